// ---- edits: one after another; each change of the graph is an undo step ------------------------------------
// The page shows and remembers only graphs that it has read after its own last change. An event of the graph
// therefore starts a read and is not shown itself: it may be older than an edit and would revert it on the
// page.
const sleep = ms => new Promise(done => setTimeout(done, ms));
let turn = Promise.resolve(), refreshWaits = false;
function inTurn(task) {
  const done = turn.then(task);
  turn = done.catch(() => {});
  return done;
}
const readGraph = () => call("get?name=graph");
function refresh() {
  if (refreshWaits) return;
  refreshWaits = true;
  setTimeout(() => inTurn(() => { refreshWaits = false; return readGraph().then(g => takeGraph(g)); }).catch(() => {}), 40);
}
/// Waits until all values are sent and records them, so that they are not part of the next edit's step.
async function settle() {
  while (busy.size) await sleep(10);
  takeGraph(await readGraph());
}
/// Runs a command that changes the graph. Resolves to its data, or to null if it was refused.
function edit(what, command, args, place = graphPlace) {
  return inTurn(async () => {
    try {
      await settle();
      const since = performance.now(), answer = await call(command, args);
      takeGraph(await readGraph(), what);
      place.accept(since);
      graphPlace.accept(since);
      return answer || {};
    } catch (error) {
      refuse(place, error.message);
      refresh();
      return null;
    }
  });
}

const kMaxSteps = 200, kMaxValues = 1000;
const past = {steps: [], now: 0, key: "", time: 0};
let refusedTime = -Infinity;  // time of the last notice of a problem

/// Shows a graph and, if it differs from the present one, adds a step. Without `what`, explain() names the step.
/// Consecutive changes with the same key of explain() are one step; changes by other clients only within a second.
function takeGraph(graph, what) {
  showGraph(graph);
  const present = past.steps[past.now]?.graph, time = performance.now();
  if (!present) past.steps = [{graph}];
  if (!present || same(present, graph)) return showHistory();
  const {text, key} = what ? {text: what, key: ""} : explain(present, graph);
  const reverted = !what && time - refusedTime < 1000 && past.now > 0 && same(graph, past.steps[past.now - 1].graph);
  const joins = key && key === past.key && past.now > 0 && (!key.startsWith("outside") || time - past.time < 1000);
  const undone = joins && same(graph, past.steps[past.now - 1].graph);  // the values are those before the gesture
  past.steps.length = past.now + 1;
  if (reverted || undone) past.steps.pop();  // reverted: the plan with the last value was refused
  else if (joins) past.steps[past.now] = {graph, what: text};
  else past.steps.push({graph, what: text});
  if (past.steps.length > kMaxSteps + 1) past.steps.shift();
  past.now = past.steps.length - 1;
  past.key = reverted || undone ? "" : key;
  past.time = time;
  showHistory();
}

/// Returns the values of `b` that differ from `a`, by property, or null if the graphs have different nodes, edges or
/// outputs.
function differences(a, b) {
  const shape = g => [g.output, g.nodes.map(n => [n.id, n.filter, n.inputs])];
  if (!same(shape(a), shape(b))) return null;
  const values = {};
  a.nodes.forEach((before, i) => {
    const after = b.nodes[i];
    if (before.enabled !== after.enabled) values[after.id + ".enabled"] = after.enabled;
    for (const [name, value] of Object.entries(after.params))
      if (!same(value, before.params[name])) values[`${after.id}.${name}`] = value;
  });
  return values;
}

// Values of one gesture (a drag, or keys without a pause) are one step.
const sent = new Map();
let gesture = 0, sentTime = -Infinity;
document.addEventListener("pointerdown", () => { ++gesture; }, true);
function touched(name) {
  const now = performance.now();
  if (now - sentTime > 700) ++gesture;
  sentTime = now;
  sent.set(name, {gesture, time: now});
}
function explain(a, b) {
  const values = differences(a, b), names = Object.keys(values || {});
  if (!values) return {text: "change by another client", key: ""};
  const own = names.every(name => performance.now() - (sent.get(name)?.time ?? -Infinity) < 5000);
  const text = names.length === 1 ? valueText(names[0], values[names[0]]) : `${names.length} values`;
  return own ? {text, key: names.join() + " " + Math.max(...names.map(name => sent.get(name).gesture))}
             : {text: text + ", by another client", key: "outside " + names.join()};
}
function valueText(name, value) {
  const at = name.lastIndexOf("."), id = name.slice(0, at), param = name.slice(at + 1);
  return param === "enabled" ? `${id} ${value ? "on" : "off"}` : `${id} ${param} ${shownValue(value)}`;
}

function undo(step) {
  return inTurn(async () => {
    try {
      await settle();
      const changes = n => differences(past.steps[past.now].graph, past.steps[n].graph);
      const empty = values => values && Object.keys(values).length === 0;
      let to = past.now + step;
      while (past.steps[to] && empty(changes(to))) to += step;  // lensd refuses a change without values
      if (!past.steps[to]) {
        past.now = to - step;
        return showHistory();
      }
      const target = past.steps[to], values = changes(to), since = performance.now();
      await (values && Object.keys(values).length <= kMaxValues ? call("set", values) : call("graph-set", [target.graph]));
      const graph = await readGraph();
      past.now = to;
      past.steps[to] = {...target, graph};
      past.key = "";
      showGraph(graph);
      for (const place of [graphPlace, ...cards.map(c => c.place)]) place.accept(since);
    } catch (error) {
      refuse(graphPlace, error.message);
    }
    showHistory();
  });
}
function showHistory() {
  const show = (b, name, keys, what) => {
    label(b, what === undefined ? `nothing to ${name}` : `${name}: ${what}`);
    b.title = b.getAttribute("aria-label") + ` (${keys})`;
    b.setAttribute("aria-disabled", what === undefined);  // not disabled, so that it keeps the focus
  };
  show($("undo"), "undo", "Ctrl+Z", past.now > 0 ? past.steps[past.now].what : undefined);
  show($("redo"), "redo", "Ctrl+Y", past.steps[past.now + 1]?.what);
}
