// ---- the graph: one card for each node ---------------------------------------------------------------------
// A card stays the same element while its node exists, so that typed text and focus survive changes by other clients.
const filters = new Map();
const graphPlace = reasonPlace($("graph-reason"));
let cards = [];

function showGraph(graph) {
  const old = cards, free = new Set(old);
  const take = find => { const card = [...free].find(find); free.delete(card); return card; };
  const matched = graph.nodes.map(node => take(c => c.id === node.id && c.filter === node.filter));
  // A node counts as renamed if it has the filter and the position of a removed node.
  const renamed = (node, i) => old.length === graph.nodes.length ? take(c => c === old[i] && c.filter === node.filter) : undefined;
  cards = graph.nodes.map((node, i) => matched[i] || renamed(node, i) || makeCard(node));
  const focused = document.activeElement, lost = [...free].find(c => c.element.contains(focused));
  arrange($("nodes"), cards.map(c => c.element));
  $("empty").hidden = cards.length > 0;
  $("top").hidden = cards.length === 0;
  label($("add"), "add a filter " + belowText(cards.at(-1)?.id));
  cards.forEach((card, i) => card.show(graph.nodes[i], i, graph));
  if (lost) (cards[Math.min(old.indexOf(lost), cards.length - 1)]?.name || $("add")).focus();
}
/// Orders the children of `list` without moving the one that has the focus, because a moved element loses it.
function arrange(list, wanted) {
  for (const child of [...list.children]) if (!wanted.includes(child)) child.remove();
  const focused = wanted.find(e => e.contains(document.activeElement));
  let last = null;
  for (const e of wanted) {
    const next = () => last ? last.nextElementSibling : list.firstElementChild;
    if (e === focused) while (next() !== e) list.append(next());
    else if (next() !== e) list.insertBefore(e, next());
    last = e;
  }
}
const belowText = id => id ? "below " + id : "to the graph";
/// Shows a refusal or a problem at the node whose id is at the start of `text`. Returns false if there is no such node.
function refuseAtNode(text) {
  const card = cards.find(c => text.startsWith(c.id + ": ") || text.startsWith("graph: " + c.id + ": "));
  card?.place.refuse(text.replace(/^graph: /, ""));
  return !!card;
}

// The browser keeps the ids of folded nodes. If it refuses to store them, the page keeps them until it is
// closed.
const kFolded = "lensd.folded";
function storedFolds() {
  try { return new Set(JSON.parse(localStorage.getItem(kFolded) || "[]")); } catch { return new Set(); }
}
const foldedNodes = storedFolds();
function keepFold(id, folded) {
  folded ? foldedNodes.add(id) : foldedNodes.delete(id);
  try { localStorage.setItem(kFolded, JSON.stringify([...foldedNodes])); } catch { /* not allowed */ }
}

/// Returns the id of the node whose picture `node` reads. Skips nodes that are off, because they pass their input through.
function inputOf(graph, node) {
  const find = id => graph.nodes.find(n => n.id === id);
  let input = node.inputs[0];
  for (let n = 0; n < graph.nodes.length && find(input) && !find(input).enabled; ++n) input = find(input).inputs[0];
  return input;
}
/// Returns the maximum of x, y, width or height of a rectangle, such as that of crop, in a picture of `size`,
/// but at least `value`. Returns undefined for other parameters. The viewer's fitted() does the same.
function rectangleMaximum(filter, spec, value, size) {
  const sides = {x: 0, width: 0, y: 1, height: 1}, whole = name => filter.parameters.some(p => p.name === name && p.type === "integer");
  if (!size || !(spec.name in sides) || !Object.keys(sides).every(whole)) return undefined;
  const side = size[sides[spec.name]], position = spec.name === "x" || spec.name === "y";
  return {max: Math.min(spec.max, Math.max(value, position ? side - 1 : side)), of: `the picture has ${size[0]}×${size[1]} pixels`};
}

function makeCard(node) {
  const filter = filters.get(node.filter) || {doc: "", parameters: [], min_inputs: 1, max_inputs: 1};
  const card = {id: node.id, filter: node.filter, index: 0};
  const reason = reasonPlace();
  const place = card.place = {...reason, get refused() { return reason.refused; },
    refuse: text => reason.refuse(text.startsWith(card.id + ": ") ? text.slice(card.id.length + 2) : text)};
  const owner = {id: () => card.id, name: spec => `${card.id}.${spec.name}`, card: place,
    maximum: (spec, value) => rectangleMaximum(filter, spec, value, card.inputSize)};
  const controls = filter.parameters.map(spec => [spec.name, (controlKinds[spec.type] || textControl)(owner, spec)]);

  const toggle = element("input", {type: "checkbox", title: "on or off; off passes its input through"});
  toggle.onchange = () => { card.element.classList.toggle("off", !toggle.checked); send(card.id + ".enabled", toggle.checked, place); };
  const title = element("span", {className: "title"}), kind = element("span", {className: "kind"});
  const cost = element("span", {className: "cost", title: "milliseconds per frame, median"});
  const params = element("div", {className: "params"}, ...controls.map(([, c]) => c.element));
  const fold = card.name = element("button", {type: "button", className: "name"}, title, kind);
  const setFold = folded => { card.element.classList.toggle("folded", folded); fold.setAttribute("aria-expanded", !folded); };
  fold.onclick = () => {
    const folded = !card.element.classList.contains("folded");
    setFold(folded);
    keepFold(card.id, folded);
  };
  const handle = element("span", {className: "handle", title: "drag to move"}, icon("handle"));
  handle.onpointerdown = event => startDrag(event, card, handle);

  const actions = nodeActions(card);
  const more = button("more", "", () => more.setAttribute("aria-expanded", !(actions.element.hidden = !actions.element.hidden)));
  more.setAttribute("aria-expanded", false);
  const inputs = inputRows(card, filter);
  const insert = button("add", "", () => openPicker(card.id));
  card.element = element("li", {className: "node"},
    element("div", {className: "head"}, handle, toggle, fold, cost, more), actions.element, reason.element, inputs.element, params,
    element("div", {className: "insert"}, insert));
  setFold(foldedNodes.has(node.id));
  card.element.onanimationend = () => card.element.classList.remove("fresh");  // a move restarts the animation
  card.element.onkeydown = event => nodeKey(event, card, actions);
  card.showCost = ms => { cost.textContent = ms === undefined ? "" : ms.toFixed(ms < 10 ? 2 : 1); };
  card.show = (now, index, graph) => {
    if (now.id !== card.id && foldedNodes.has(card.id)) { keepFold(card.id, false); keepFold(now.id, true); }
    card.id = now.id;
    card.index = index;
    card.element.dataset.node = now.id;
    title.textContent = now.id;
    fold.title = `${now.id}: ${filter.doc}\n(Delete removes, F2 renames, Alt+↑ and Alt+↓ move)`;
    const output = graph.output === now.id && index < graph.nodes.length - 1;
    kind.textContent = [now.filter === now.id ? "" : now.filter, output ? "output" : ""].filter(Boolean).join(" · ");
    label(toggle, now.id + " on");
    label(more, "actions for " + now.id);
    label(insert, "add a filter below " + now.id);
    insert.title = "add a filter here";
    more.title = "move, copy, rename, reset, remove";
    if (!busy.has(now.id + ".enabled")) { toggle.checked = now.enabled; card.element.classList.toggle("off", !now.enabled); }
    card.inputSize = state.sizes?.[inputOf(graph, now)];
    actions.show(graph);
    inputs.show(now, index, graph);
    for (const [name, control] of controls) control.show(now.params[name]);
  };
  return card;
}

const moveNode = (card, place) => edit("move " + card.id, "node-move", [card.id, place], card.place);
const removeNode = card => edit("remove " + card.id, "node-remove", [card.id], card.place);
async function addNode(what, command, args, place) {
  const answer = await edit(what, command, args, place);
  if (answer) focusNode(answer.node);
}
function focusNode(id) {
  const card = cards.find(c => c.id === id);
  card?.element.classList.add("fresh");
  card?.element.scrollIntoView({block: "nearest"});
  card?.name.focus({preventScroll: true});
}
/// The buttons behind "more", and the field for a new name.
function nodeActions(card) {
  const up = button("up", "move up (Alt+↑)", () => card.index > 0 && moveNode(card, card.index - 1));
  const down = button("down", "move down (Alt+↓)", () => card.index < cards.length - 1 && moveNode(card, card.index + 1));
  const plain = (text, doc, onclick) => element("button", {type: "button", textContent: text, title: doc, onclick});
  const input = label(element("input", {type: "text", spellcheck: false, autocapitalize: "off", autocomplete: "off", maxLength: 64}), "new name");
  const rename = element("form", {className: "rename", hidden: true}, input, element("button", {textContent: "Rename"}));
  const close = () => { rename.hidden = true; card.name.focus(); };
  rename.onsubmit = async event => {
    event.preventDefault();
    const name = input.value.trim();
    if (name === card.id || await edit(`rename ${card.id} to ${name}`, "node-rename", [card.id, name], card.place)) close();
  };
  input.onkeydown = event => { if (event.key === "Escape") { card.place.accept(); close(); } };
  const output = plain("Use as output", "shows this node's picture", () => edit("output " + card.id, "graph-output", [card.id], card.place));
  const startRename = () => { rename.hidden = false; input.value = card.id; input.select(); input.focus(); };
  const buttons = element("div", {className: "actions", hidden: true}, up, down,
    plain("Duplicate", "adds a copy below", () => addNode("duplicate " + card.id, "node-duplicate", [card.id], card.place)),
    plain("Rename", "gives the node another name (F2)", startRename),
    plain("Reset", "sets all parameters to their defaults", () => edit("reset " + card.id, "node-reset", [card.id], card.place)),
    output, element("button", {type: "button", className: "danger", textContent: "Remove", title: "removes the node (Delete)", onclick: () => removeNode(card)}));
  return {
    element: buttons, rename, startRename,
    show(graph) {
      if (!rename.isConnected) buttons.after(rename);
      up.setAttribute("aria-disabled", card.index === 0);
      down.setAttribute("aria-disabled", card.index === graph.nodes.length - 1);
      output.hidden = graph.output === card.id;
    },
  };
}
function nodeKey(event, card, actions) {
  if (event.altKey && (event.key === "ArrowUp" || event.key === "ArrowDown")) {
    if (event.target.matches("select, textarea")) return;  // Alt+↓ opens a list
    const place = card.index + (event.key === "ArrowUp" ? -1 : 1);
    event.preventDefault();
    if (place >= 0 && place < cards.length) moveNode(card, place);
  } else if (event.target === card.name && event.key === "Delete") {
    removeNode(card);
  } else if (event.target === card.name && event.key === "F2") {
    event.preventDefault();
    actions.startRename();
  }
}
/// Lists of inputs: for filters with several inputs, and for nodes that do not read the node above.
function inputRows(card, filter) {
  const rows = element("div", {className: "inputs", hidden: true});
  let shown = "";
  const makeRow = (now, n, choices) => {
    const select = label(element("select", {}, ...choices.map(c => element("option", {textContent: c || "none", value: c}))), `input ${n + 1} of ${now.id}`);
    select.value = now.inputs[n] || "";
    select.onchange = () => edit("input of " + card.id, "node-input", [card.id, n, ...(select.value ? [select.value] : [])], card.place)
      .then(done => { if (!done) shown = ""; });  // show the running input again
    return element("div", {className: "param"}, element("span", {className: "label"}, element("span", {textContent: filter.max_inputs > 1 ? `input ${n + 1}` : "input"})), element("div", {className: "value"}, select));
  };
  return {element: rows, show(now, index, graph) {
    const above = ["source", ...graph.nodes.slice(0, index).map(n => n.id)];
    const count = Math.min(filter.max_inputs, now.inputs.length + 1);
    const wanted = filter.max_inputs > 1 || now.inputs[0] !== above.at(-1);
    const key = JSON.stringify([now.id, now.inputs, above, wanted]);
    if (key === shown) return;
    shown = key;
    rows.hidden = !wanted;
    const listed = n => [...new Set([...(n >= filter.min_inputs ? [""] : []), ...above, ...now.inputs.slice(n, n + 1)])];
    rows.replaceChildren(...(wanted ? Array.from({length: count}, (_, n) => makeRow(now, n, listed(n))) : []));
  }};
}

// ---- moving a node by its handle, with mouse, pen or finger -----------------------------------------------
function startDrag(event, card, handle) {
  if (event.button !== 0) return;
  event.preventDefault();
  handle.setPointerCapture(event.pointerId);
  card.element.classList.add("dragged");
  const others = () => cards.filter(c => c !== card);
  let place = card.index;
  const move = ({clientY}) => {
    const middle = c => { const box = c.element.getBoundingClientRect(); return (box.top + box.bottom) / 2; };
    place = others().filter(c => middle(c) < clientY).length;
    const next = others()[place]?.element;
    $("drop").hidden = place === card.index;
    $("drop").style.top = (next ? next.offsetTop : $("list").clientHeight) - 9 + "px";
    const column = $("graph").scrollHeight > $("graph").clientHeight ? $("graph") : document.scrollingElement;
    if (clientY > innerHeight - 60) column.scrollBy(0, 12);
    if (clientY < 120) column.scrollBy(0, -12);
  };
  const end = drop => {
    handle.onpointermove = handle.onpointerup = handle.onpointercancel = null;
    removeEventListener("keydown", escape, true);
    $("drop").hidden = true;
    card.element.classList.remove("dragged");
    if (drop && place !== card.index) moveNode(card, place);
  };
  const escape = key => { if (key.key === "Escape") end(false); };
  handle.onpointermove = move;
  handle.onpointerup = () => end(true);
  handle.onpointercancel = () => end(false);
  addEventListener("keydown", escape, true);
}
