// ---- state ----------------------------------------------------------------------------------------------
const state = {};
const digits = value => Number.isInteger(value) ? String(value) : String(+value.toPrecision(4));
/// Returns minutes and seconds. Truncates to milliseconds, as the window does: rounding 59.9996 s gives "00:60.000".
const clock = s => {
  const ms = Math.floor(1000 * s + 1e-3);
  return `${String(Math.floor(ms / 60000)).padStart(2, "0")}:${(ms % 60000 / 1000).toFixed(3).padStart(6, "0")}`;
};
// At the end of a file, Play restarts it.
const isPaused = () => !!state.pause || state.source?.state === "ended";
const stateClass = {playing: "good", paused: "good", ended: "good", connecting: "wait", stalled: "wait", reconnecting: "wait", failed: "bad"};
/// Makes `parent` have `count` children and returns them. Keeps existing ones; make(index) creates a new one.
/// one.
function children(parent, count, make) {
  while (parent.children.length > count) parent.lastChild.remove();
  while (parent.children.length < count) parent.append(make(parent.children.length));
  return [...parent.children];
}
const showList = (id, rows) => children($(id), 2 * rows.length, i => element(i % 2 ? "dd" : "dt"))
  .forEach((e, i) => setText(e, rows[i >> 1][i % 2] ?? ""));
function showState() {
  showSource(state.source || {});
  showTransport(state.source || {}, state.record || {});
  showFigures(state.source || {}, state.record || {}, state.counters || {}, state.stream || {}, state["virtual-camera"] || {});
  showVirtualCamera(state["virtual-camera"] || {});
}
let showWaits = false;
/// Shows the state with the screen's next frame, because every picture changes several properties.
function showSoon() {
  if (showWaits) return;
  showWaits = true;
  requestAnimationFrame(() => { showWaits = false; if (events) showState(); });
}
function showSource(source) {
  document.title = (source.name ? source.name + " – " : "") + "lensd";
  setText($("source"), source.name || "");
  setText($("detail"), source.detail || "");
  setText($("state"), source.state || "connecting");
  $("state").className = "state " + (stateClass[source.state] || "wait");
  $("state").title = source.reason || "";
  if (source.width) $("stage").style.setProperty("--shape", source.width + " / " + source.height);
}
function showTransport(source, record) {
  const toggle = (id, on, text = $(id).textContent) => {
    $(id).setAttribute("aria-pressed", on);
    setText($(id), text);
  };
  toggle("pause", isPaused(), isPaused() ? "Play" : "Pause");
  toggle("bypass", !!state.bypass);
  toggle("record", !!record.on, record.on ? "Stop recording" : "Record");
  $("record").title = titleOf("record", record.on ? record.path || record.problem : undefined);
  const position = state["time-pos"] || 0, length = state.duration || 0;
  $("position").hidden = !(source.seekable && length > 0);
  if (length > 0 && !isHeld($("position"))) $("position").value = 1000 * position / length;
  showPosition();
  if (isHeld($("position"))) return;
  setText($("time"), clock(position) + " · frame " + (state["frame-estimated"] ? "~" : "") + Math.max(0, state.frame ?? 0));
}
const chosenTime = () => (state.duration || 0) * $("position").value / 1000;
function showPosition() {
  $("position").style.setProperty("--at", $("position").value / 10 + "%");
  $("position").setAttribute("aria-valuetext", [chosenTime(), state.duration || 0].map(s => clock(s).slice(0, -4)).join(" of "));
  if (isHeld($("position"))) setText($("time"), "to " + clock(chosenTime()));
}
/// Keys of the buttons: the viewer's keys, if it has the same action. A button's title names its first key.
const buttonKeys = [
  {id: "add", keys: ["+", "a"], doc: "add a filter below the node in use, or at the end"},
  {id: "pause", keys: ["Space", " ", "p"], doc: "pause or play"},
  {id: "step", keys: ["."], doc: "next frame"},
  {id: "snapshot", keys: ["s"], doc: "write the newest frame to the captures folder"},
  {id: "record", keys: ["r"], doc: "record to the recordings folder"},
  {id: "virtual-camera", keys: ["v"], doc: "offer the output as a camera to other programs (PipeWire)"},
];
/// Returns a button's title. `text` replaces the description of the action.
function titleOf(id, text) {
  const {keys, doc} = buttonKeys.find(one => one.id === id);
  return `${text ?? doc} (${keys[0]})`;
}
function showVirtualCamera(camera) {
  $("virtual-camera").setAttribute("aria-pressed", !!camera.on);
  $("virtual-camera").title = titleOf("virtual-camera", camera.on
    ? `other programs see the camera '${camera.name}': ${camera.reason || camera.state}` : undefined);
}
function showFigures(source, record, counters, stream, camera) {
  const drops = {"by the source": counters.dropped, "by the recorder": counters.dropped_recorder,
    "by the stream": counters.dropped_stream, "by the virtual camera": counters.dropped_virtual_camera};
  const reasons = Object.entries(drops).filter(([, n]) => n).map(([why, n]) => n + " " + why);
  const dropped = Object.values(drops).reduce((sum, n) => sum + (n || 0), 0);
  setText($("figures"), `${(state.rate || 0).toFixed(1)} frames/s · ${dropped} dropped`);
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
    "virtual camera": camera.on ? `${camera.name}: ${camera.reason || camera.state}, ${camera.frames} frames` : undefined,
    "sent to": stream.url ? `${stream.url}: ${stream.state}, ${stream.frames} frames` : undefined,
  };
  showList("facts", Object.entries(facts).filter(([, v]) => v !== undefined && v !== ""));
}
async function showStats() {
  const stats = await call("stats");
  Object.assign(state, stats.state);
  if (!$("camera").hidden || Object.keys(stats.state.controls || {}).length) showCamera();
  const ms = value => value === undefined ? "n/a" : value.toFixed(value < 10 ? 2 : 1);
  const makeRow = () => element("tr", {}, element("td", {}, element("span"), " ", element("small")), element("td"), element("td"));
  children($("timings"), stats.timings.length, makeRow).forEach(({cells: [name, p50, p99]}, i) => {
    const row = stats.timings[i];
    name.title = row.node + " " + row.pass;
    setText(name.firstChild, row.node);
    setText(name.lastChild, row.pass === row.node ? "" : row.pass);
    setText(p50, ms(row.p50_ms));
    setText(p99, ms(row.p99_ms));
  });
  for (const card of cards) {
    const rows = stats.timings.filter(row => row.node === card.id && row.p50_ms !== undefined);
    card.showCost(rows.length ? rows.reduce((sum, row) => sum + row.p50_ms, 0) : undefined);
  }
  const values = stats.statistics.flatMap(s => Object.entries(s.values).map(([k, v]) => [s.node + " " + k, v]));
  $("statistics").parentElement.hidden = values.length === 0;
  showList("statistics", values.map(([k, v]) => [k, v === null ? "n/a" : digits(v)]));
  showState();
}
const observed = ["graph", "sizes", "pause", "bypass", "frame", "frame-estimated", "time-pos", "rate", "source", "counters", "record", "stream", "virtual-camera", "controls"];
let events = null;  // null while there is no connection
function observe() {
  events = new EventSource("events?" + observed.map(name => "observe=" + name).join("&"));
  events.onmessage = message => {
    const event = JSON.parse(message.data);
    if (event.event === "property-change") {
      if (event.name === "graph") return refresh();
      if (event.name === "controls") return showCamera();
      state[event.name] = event.data;
      if (event.name === "sizes") refresh();
      showSoon();
    } else if (event.event === "events-dropped") {  // the connection was too slow
      refresh();
      showCamera();
    } else if (event.event === "notice") {
      if (event.problem) refusedTime = performance.now();
      inTurn(async () => event.problem && (await isRefusal(event.text) || refuseAtNode(event.text)) || note(event.text, event.problem));
    } else if (event.event === "reload") {
      note(event.ok ? "configuration reloaded" : "reload refused\n" + event.problems.join("\n"), !event.ok);
    }
  };
  events.onopen = () => { setDisconnected(false); loadStream(); };
  events.onerror = () => disconnect(kLost);
}
function disconnect(reason) {
  events?.close();
  events = null;
  setDisconnected(true);
  setText($("message"), reason);
}
let updating = false;
/// Updates the measurements. Without a connection, connects first. A hidden page does not receive events,
/// because browsers open only six connections to a server, for all its pages together.
async function update() {
  if (updating || (document.hidden && past.steps.length)) return;
  updating = true;
  try {
    if (!filters.size) for (const filter of await request("filters")) filters.set(filter.name, filter);
    if (!events) await inTurn(() => readGraph().then(g => takeGraph(g)));
    await showStats();
    if (!events && !document.hidden) observe();
  } catch (error) {
    disconnect(error.message);
  }
  updating = false;
}
let typedField = null;  // the field that had the focus when the connection was lost
/// Dims the page while there is no connection, because its values are outdated. Keeps typed text.
function setDisconnected(on) {
  const focused = document.activeElement;
  if (on && typed.has(focused)) typedField = focused;
  document.body.classList.toggle("disconnected", on);
  $("message").hidden = !on;
  for (const id of ["graph", "side"]) $(id).inert = on;
  if (!on && focused === document.body) typedField?.focus({preventScroll: true});
  if (!on) typedField = null;
  if (!on) return;
  setText($("state"), "no connection");
  $("state").className = "state bad";
}
// A hidden page does not load the stream, so that no frames are encoded for it.
function loadStream() { $("picture").src = document.hidden ? "data:," : "stream.mjpeg?" + Date.now(); }
// lensd refuses a stream if it has too many connections.
$("picture").onerror = () => setTimeout(() => { if (events) loadStream(); }, 1000);

$("pause").onclick = () => act("pause", [!isPaused()]);
$("step").onclick = () => act("step");
$("bypass").onclick = () => send("bypass", !state.bypass);
$("snapshot").onclick = async () => { const done = await act("snapshot"); if (done) note("written: " + done.path); };
$("record").onclick = async () => { const done = await act("record", [!state.record?.on]); if (done?.path && done.frames === undefined) note("recording to " + done.path); };
$("position").oninput = showPosition;
$("position").onchange = () => act("seek", [chosenTime(), "absolute"]);
$("virtual-camera").onclick = () => act("virtual-camera", [!state["virtual-camera"]?.on]);
document.onvisibilitychange = () => {
  if (!document.hidden) return update();
  events?.close();
  events = null;
  loadStream();
};
for (const [id, step] of [["undo", -1], ["redo", 1]]) {
  $(id).append(icon(id));
  $(id).onclick = () => undo(step);
}
for (const id of ["add", "add-top"]) $(id).prepend(icon("add"));
$("add").onclick = () => openPicker(cards.at(-1)?.id || "source");
$("add-top").onclick = () => openPicker("source");
const typesText = e => e.matches("textarea, select, input:not([type=range], [type=checkbox])");
const undoesText = e => typesText(e) && (!e.closest(".params") || typed.has(e));
for (const {id} of buttonKeys) $(id).title = titleOf(id);
document.onkeydown = event => {
  if ($("picker").open) return;
  const key = event.key.toLowerCase();
  if ((event.ctrlKey || event.metaKey) && (key === "z" || key === "y") && !undoesText(event.target)) {
    event.preventDefault();
    return undo(key === "y" || event.shiftKey ? 1 : -1);
  }
  if (event.ctrlKey || event.metaKey || event.altKey || typesText(event.target)) return;
  const pressed = buttonKeys.find(one => one.keys.includes(key));
  if (!pressed || (key === " " && event.target.matches("input, button"))) return;  // Space presses the button in focus
  event.preventDefault();
  if (event.repeat && pressed.id !== "step") return;  // as in the window, a held key only repeats steps
  if (pressed.id !== "add") return $(pressed.id).click();
  const card = cards.find(c => c.element.contains(document.activeElement)) || cards.at(-1);
  openPicker(card?.id || "source");
};
setInterval(update, 1000);
update();
