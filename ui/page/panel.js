"use strict";
const $ = id => document.getElementById(id);
const element = (tag, properties = {}, ...children) => {
  const e = Object.assign(document.createElement(tag), properties);
  e.append(...children);
  return e;
};

// ---- requests: one at a time per property, the newest value wins -------------------------------------------
async function call(command, body) {
  const response = await fetch("/api/v1/" + command, body === undefined
    ? {} : {method: "POST", headers: {"Content-Type": "application/json"}, body: JSON.stringify(body)});
  if (response.status === 401) throw new Error("this page needs the token: open the address that lensd logged");
  const answer = await response.json();
  if (!response.ok) throw new Error(answer.error || response.statusText);
  return answer.data;
}
const waiting = new Map(), busy = new Set();
async function send(name, value, control) {
  waiting.set(name, value);
  if (busy.has(name)) return;
  busy.add(name);
  while (waiting.has(name)) {
    const latest = waiting.get(name);
    waiting.delete(name);
    try {
      await call("set", {[name]: latest});
      control?.classList.remove("refused");
    } catch (error) {
      control?.classList.add("refused");
      note(error.message, true);
    }
  }
  busy.delete(name);
}
const act = (command, body = []) => call(command, body).catch(error => note(error.message, true));

// ---- messages -------------------------------------------------------------------------------------------
function note(text, bad = false) {
  const shown = element("div", {className: "note" + (bad ? " bad" : ""), textContent: text});
  $("notes").append(shown);
  while ($("notes").children.length > 4) $("notes").firstChild.remove();
  setTimeout(() => shown.remove(), 6000);
  if ($("log").firstChild?.nodeType === Node.TEXT_NODE) $("log").textContent = "";
  const time = new Date().toTimeString().slice(0, 8);
  $("log").prepend(element("div", {className: bad ? "bad" : "", textContent: time + "  " + text}));
  while ($("log").children.length > 30) $("log").lastChild.remove();
}

// ---- one control for each kind of parameter -------------------------------------------------------------
// Each returns {element, show(value)}; show() does not change a control that is in use.
const digits = value => Number.isInteger(value) ? String(value) : String(+value.toPrecision(4));
function control(spec, tag, properties, ...children) {
  const e = element(tag, {...properties, title: spec.doc}, ...children);
  e.setAttribute("aria-label", spec.name);
  return e;
}
const row = (spec, ...controls) => element("div", {className: "param"},
  element("span", {textContent: spec.name, title: spec.doc}), ...controls);
function numberControl(name, spec) {
  const integer = spec.type === "integer", step = integer ? (spec.odd ? 2 : 1) : "any";
  const steps = integer ? Math.min(2000, (spec.max - spec.min) / step) : 500;
  const log = spec.log && spec.min >= 0 && spec.max > 0;
  const low = log ? Math.max(spec.min, spec.max / 1e4) : spec.min;
  const snap = value => {
    if (!integer) return +value.toPrecision(4);
    const whole = Math.round(value);
    return spec.odd && whole % 2 === 0 ? Math.min(whole + 1, spec.max) : whole;
  };
  const toValue = at => at === 0 ? spec.min : snap(log ? low * Math.pow(spec.max / low, at / steps)
                                                       : spec.min + (spec.max - spec.min) * at / steps);
  const toPlace = value => log ? (value <= low ? 0 : steps * Math.log(value / low) / Math.log(spec.max / low))
                               : steps * (value - spec.min) / (spec.max - spec.min);
  const slider = control(spec, "input", {type: "range", min: 0, max: steps, step: 1});
  const number = control(spec, "input", {type: "number", min: spec.min, max: spec.max, step, inputMode: "decimal"});
  const unit = element("span", {className: "unit"});
  const fill = () => {
    slider.style.setProperty("--at", 100 * slider.value / steps + "%");
    unit.textContent = +number.value === 0 && spec.zero || spec.unit || "";
  };
  slider.oninput = () => { const v = toValue(+slider.value); number.value = digits(v); fill(); send(name, v, number); };
  number.onchange = () => { slider.value = toPlace(+number.value); fill(); send(name, +number.value, number); };
  return {element: row(spec, element("div", {className: "value"}, number, unit), slider), show(value) {
    if (document.activeElement === number || slider.matches(":active") || busy.has(name)) return;
    number.value = digits(value);
    slider.value = toPlace(value);
    fill();
  }};
}
function checkboxControl(name, spec) {
  const box = control(spec, "input", {type: "checkbox", onchange: () => send(name, box.checked, box)});
  return {element: row(spec, box), show(value) { if (!busy.has(name)) box.checked = value; }};
}
function textControl(name, spec) {
  const matrix = spec.type === "matrix";
  const input = spec.type === "choice" ? control(spec, "select", {}, ...spec.choices.map(c => element("option", {textContent: c, value: c})))
    : matrix ? control(spec, "textarea", {spellcheck: false}) : control(spec, "input", {type: "text"});
  input.onchange = () => {
    try { send(name, matrix ? JSON.parse(input.value) : input.value, input); }
    catch { input.classList.add("refused"); note(spec.name + ": expected rows of numbers, like [[0,1,0],[1,4,1],[0,1,0]]", true); }
  };
  return {element: row(spec, input), show(value) {
    if (document.activeElement !== input && !busy.has(name)) input.value = matrix ? JSON.stringify(value) : value;
  }};
}
const controlKinds = {integer: numberControl, real: numberControl, boolean: checkboxControl};

// ---- the graph ------------------------------------------------------------------------------------------
let filters = new Map(), shown = [], shape = "";
function showGraph(graph) {
  const now = JSON.stringify(graph.nodes.map(n => [n.id, n.filter]));
  if (now !== shape) {
    shape = now;
    shown = graph.nodes.map(buildNode);
    $("nodes").replaceChildren(...(shown.length ? shown.map(n => n.element)
      : [element("p", {textContent: "The graph is empty: the decoded picture is shown.", style: "color: var(--dim)"})]));
  }
  graph.nodes.forEach((node, i) => shown[i].show(node));
}
function buildNode(node) {
  const filter = filters.get(node.filter) || {doc: "", parameters: []};
  const toggle = element("input", {type: "checkbox"});
  toggle.setAttribute("aria-label", node.id);
  toggle.onchange = () => { card.classList.toggle("off", !toggle.checked); send(node.id + ".enabled", toggle.checked, toggle); };
  const controls = filter.parameters.map(spec =>
    [spec.name, (controlKinds[spec.type] || textControl)(node.id + "." + spec.name, spec)]);
  const card = element("div", {className: "node"},
    element("label", {title: filter.doc}, toggle, element("span", {className: "title", textContent: node.id}),
      element("span", {className: "kind", textContent: node.filter === node.id ? "" : node.filter})),
    element("div", {className: "params"}, ...controls.map(([, c]) => c.element)));
  card.dataset.node = node.id;
  return {element: card, show(now) {
    if (!busy.has(node.id + ".enabled")) { toggle.checked = now.enabled; card.classList.toggle("off", !now.enabled); }
    for (const [name, control] of controls) control.show(now.params[name]);
  }};
}

// ---- state ----------------------------------------------------------------------------------------------
const state = {};
const clock = s => `${String(Math.floor(s / 60)).padStart(2, "0")}:${(s % 60).toFixed(3).padStart(6, "0")}`;
// At the end of a file, Play restarts it.
const isPaused = () => !!state.pause || state.source?.state === "ended";
const stateClass = {playing: "good", paused: "good", ended: "good", connecting: "wait", stalled: "wait", reconnecting: "wait", failed: "bad"};
const showList = (id, rows) => $(id).replaceChildren(...rows.flatMap(([k, v]) =>
  [element("dt", {textContent: k}), element("dd", {textContent: v})]));
function showState() {
  showSource(state.source || {});
  showTransport(state.source || {}, state.record || {});
  showFigures(state.source || {}, state.record || {}, state.counters || {}, state.stream || {});
}
function showSource(source) {
  document.title = (source.name ? source.name + " – " : "") + "lensd";
  $("source").textContent = source.name || "";
  $("detail").textContent = source.detail || "";
  $("state").textContent = source.state || "connecting";
  $("state").className = "state " + (stateClass[source.state] || "wait");
  $("state").title = source.reason || "";
  if (source.width) $("stage").style.setProperty("--shape", source.width + " / " + source.height);
}
function showTransport(source, record) {
  const toggle = (id, on, text = $(id).textContent) => {
    $(id).setAttribute("aria-pressed", on);
    $(id).textContent = text;
  };
  toggle("pause", isPaused(), isPaused() ? "Play" : "Pause");
  toggle("bypass", !!state.bypass);
  toggle("record", !!record.on, record.on ? "Stop recording" : "Record");
  $("record").title = record.on ? record.path || record.problem : "record to the recordings folder";
  const position = state["time-pos"] || 0, length = state.duration || 0;
  $("time").textContent = clock(position) + " · frame " + Math.max(0, state.frame ?? 0);
  $("position").hidden = !(source.seekable && length > 0);
  if (length > 0 && !$("position").matches(":active")) {
    $("position").value = 1000 * position / length;
    $("position").style.setProperty("--at", 100 * position / length + "%");
  }
}
function showFigures(source, record, counters, stream) {
  const drops = {"by the source": counters.dropped, "by the recorder": counters.dropped_recorder,
    "by the stream": counters.dropped_stream};
  const reasons = Object.entries(drops).filter(([, n]) => n).map(([why, n]) => n + " " + why);
  const dropped = Object.values(drops).reduce((sum, n) => sum + (n || 0), 0);
  $("figures").textContent = `${(state.rate || 0).toFixed(1)} frames/s · ${dropped} dropped`;
  $("figures").title = reasons.join(", ");
  const recording = !record.on ? undefined : !record.active ? "failed: " + record.problem
    : !record.path ? "waits for a picture" : `${record.path}, ${record.frames} frames, ${(record.bytes / 1e6).toFixed(1)} MB`;
  const facts = {
    "address": source.url,
    "state": source.reason ? `${source.state}: ${source.reason}` : source.state,
    "format": source.detail,
    "nominal rate": source.fps ? source.fps.toFixed(2) + " frames/s" : "unknown",
    "backend": state.backend,
    "processed": counters.processed,
    "late": counters.late,
    "dropped": reasons.join(", ") || dropped,
    "reconnects": source.live ? source.reconnects : undefined,
    "reloads": counters.reloads,
    "refused reloads": counters.reloads_refused || undefined,
    "recording": recording,
    "sent to": stream.url ? `${stream.url}: ${stream.state}, ${stream.frames} frames` : undefined,
  };
  showList("facts", Object.entries(facts).filter(([, v]) => v !== undefined && v !== ""));
}
async function showStats() {
  if (document.hidden) return;
  const stats = await call("stats");
  Object.assign(state, stats.state);
  showGraph(stats.state.graph);
  const ms = value => value === undefined ? "n/a" : value.toFixed(value < 10 ? 2 : 1);
  $("timings").replaceChildren(...stats.timings.map(row => element("tr", {},
    element("td", {title: row.node + " " + row.pass}, row.node + " ", element("small", {textContent: row.pass === row.node ? "" : row.pass})),
    element("td", {textContent: ms(row.p50_ms)}), element("td", {textContent: ms(row.p99_ms)}))));
  const values = stats.statistics.flatMap(s => Object.entries(s.values).map(([k, v]) => [s.node + " " + k, v]));
  $("statistics").parentElement.hidden = values.length === 0;
  showList("statistics", values.map(([k, v]) => [k, v === null ? "n/a" : digits(v)]));
  showState();
}
const observed = ["graph", "pause", "bypass", "frame", "time-pos", "rate", "source", "counters", "record", "stream"];
function observe() {
  const events = new EventSource("/events?" + observed.map(name => "observe=" + name).join("&"));
  events.onmessage = message => {
    const event = JSON.parse(message.data);
    if (event.event === "property-change") {
      if (event.name === "graph") return showGraph(event.data);
      state[event.name] = event.data;
      showState();
    } else if (event.event === "notice") {
      note(event.text, event.problem);
    } else if (event.event === "reload") {
      note(event.ok ? "configuration reloaded" : "reload refused\n" + event.problems.join("\n"), !event.ok);
    }
  };
  events.onopen = () => { setDisconnected(false); loadStream(); };
  events.onerror = () => {
    setDisconnected(true);
    showMessage("The connection to lensd is lost; reconnecting.");
    if (events.readyState !== EventSource.CLOSED) return;
    setTimeout(observe, 2000);
    // A restarted lensd has the same address but may have another token.
    call("get?name=frame").catch(error => { if (error.message.includes("token")) showMessage(error.message); });
  };
}
// Dims the page while there is no connection, because its values are outdated.
function setDisconnected(on) {
  document.body.classList.toggle("disconnected", on);
  $("message").hidden = !on;
  if (!on) return;
  $("state").textContent = "no connection";
  $("state").className = "state bad";
}
// A hidden page does not load the stream, so that no frames are encoded for it.
function loadStream() { $("picture").src = document.hidden ? "data:," : "/stream.mjpeg?" + Date.now(); }
function showMessage(text) { $("message").hidden = false; $("message").textContent = text; }

$("pause").onclick = () => act("pause", [!isPaused()]);
$("step").onclick = () => act("step");
$("bypass").onclick = () => send("bypass", !state.bypass);
$("snapshot").onclick = async () => { const done = await act("snapshot"); if (done) note("written: " + done.path); };
$("record").onclick = async () => { const done = await act("record", [!state.record?.on]); if (done?.path && done.frames === undefined) note("recording to " + done.path); };
$("position").onchange = () => act("seek", [state.duration * $("position").value / 1000, "absolute"]);
document.onvisibilitychange = () => { if ($("message").hidden) loadStream(); };
document.onkeydown = event => {
  if (event.target.matches("input, select, textarea, button")) return;
  if (event.key === " " || event.key === "p") { event.preventDefault(); $("pause").click(); }
  if (event.key === ".") $("step").click();
  if (event.key === "s") $("snapshot").click();
};
(async () => {
  try {
    for (const filter of await (await fetch("/api/v1/filters")).json()) filters.set(filter.name, filter);
    await showStats();
    observe();
    setInterval(() => { if (!document.body.classList.contains("disconnected")) showStats().catch(() => {}); }, 1000);
  } catch (error) {
    showMessage(error.message);
  }
})();
