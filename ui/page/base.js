"use strict";
const $ = id => document.getElementById(id);
const element = (tag, properties = {}, ...children) => {
  const e = Object.assign(document.createElement(tag), properties);
  e.append(...children);
  return e;
};
// Splits a name after underscores, where a line may break. Uses no lookbehind, because the whole script would
// fail in Safari before 16.4.
const breakable = name => (name.match(/[^_]+_*|_+/g) || []).flatMap((part, i) => i ? [element("wbr"), part] : [part]);
// Writes a text only if it differs. Rewriting it would end its selection, and screen readers could repeat it.
const setText = (e, text) => { if (e.textContent !== String(text)) e.textContent = text; };
const label = (e, text) => { e.setAttribute("aria-label", text); return e; };
const iconPaths = {
  more: "M3.5 8h.01M8 8h.01M12.5 8h.01", up: "M8 13V3M4 7l4-4 4 4", down: "M8 3v10M4 9l4 4 4-4", add: "M8 3v10M3 8h10",
  undo: "M6 3 3 6l3 3M3 6h6a4 4 0 0 1 0 8H7", redo: "M10 3l3 3-3 3M13 6H7a4 4 0 0 0 0 8h2",
  handle: "M6 4h.01M10 4h.01M6 8h.01M10 8h.01M6 12h.01M10 12h.01", fold: "M4 6l4 4 4-4",
};
function icon(name) {
  const make = (tag, attributes) => {
    const e = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [key, value] of Object.entries(attributes)) e.setAttribute(key, value);
    return e;
  };
  const svg = make("svg", {viewBox: "0 0 16 16", "aria-hidden": "true"});
  svg.append(make("path", {d: iconPaths[name]}));
  return svg;
}
/// A button that shows an icon; `text` is its name for screen readers and its tooltip.
const button = (name, text, onclick) => label(element("button", {type: "button", title: text, onclick, className: "icon"}, icon(name)), text);

// What each mouse button, pen or finger holds, by pointer. While a finger drags a slider, the slider does not match :active.
const held = new Map();
const isHeld = e => [...held.values()].includes(e);
addEventListener("pointerdown", event => { if (event.button === 0) held.set(event.pointerId, event.target); }, true);
// Ends the hold later, because the slider's change event follows the end of the touch. Then reads the values that were
// not shown during the hold.
const endHold = event => setTimeout(() => {
  const e = held.get(event.pointerId);
  held.delete(event.pointerId);
  if (e?.matches("input[type=range]")) { refresh(); showCamera(); }
});
for (const end of ["pointerup", "pointercancel"]) addEventListener(end, endHold, true);

// ---- requests -------------------------------------------------------------------------------------------
// Reads are answered at once, changes after up to 40 s. The server closes a stream of pictures that makes no
// progress for 5 s. kReadMs is shorter, so that the page has noticed the outage before the stream is closed.
const kReadMs = 4000, kChangeMs = 45000, kLost = "The connection to lensd is lost; reconnecting.";
async function request(path, options = {}, limit = kReadMs) {
  const [response, answer] = await fetch("api/v1/" + path, {...options, signal: AbortSignal.timeout(limit)})
    .then(async response => [response, await response.json()])
    .catch(() => { throw new Error(kLost); });
  if (response.status === 401) throw new Error("this page needs the token: open the address that lensd logged");
  if (!response.ok) throw new Error(answer.error || response.statusText);
  return answer;
}
async function call(command, body) {
  const post = {method: "POST", headers: {"Content-Type": "application/json"}, body: JSON.stringify(body)};
  return (await (body === undefined ? request(command) : request(command, post, kChangeMs))).data;
}
const act = (command, body = []) => call(command, body).catch(error => note(error.message, true));

// Values are sent one at a time per property; the newest value wins.
const waiting = new Map(), busy = new Set();
async function send(name, value, place = notes) {
  touched(name);
  waiting.set(name, value);
  if (busy.has(name)) return;
  busy.add(name);
  while (waiting.has(name)) {
    const latest = waiting.get(name), since = performance.now();
    waiting.delete(name);
    try {
      await call("set", {[name]: latest});
      place.accept(since);
    } catch (error) {
      refuse(place, error.message);
    }
  }
  busy.delete(name);
  refresh();
}

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
// A place shows why a request was refused. accept(since) clears a reason that is older than `since`, the time when the
// accepted request was sent. `notes` shows reasons over the picture, all other places next to the control that sent the
// request.
const notes = {accept() {}, refuse: text => note(text, true)};
// The refusals that were shown, with their times. lensd sends some of them as notices, too.
const refusals = new Map();
function refuse(place, text) {
  if (refusals.size > 20) refusals.clear();
  refusals.set(text, performance.now());
  place.refuse(text);
}
/// Returns true if a notice repeats a refusal. Waits for replies first, because they can arrive after the notice.
async function isRefusal(text) {
  for (let tries = 0; tries < 20 && busy.size; ++tries) await sleep(10);
  return performance.now() - (refusals.get(text) ?? -Infinity) < 2000;
}
function reasonPlace(e = element("p", {className: "reason", hidden: true})) {
  e.setAttribute("role", "alert");
  let time = 0;
  return {
    element: e,
    get refused() { return !e.hidden; },
    refuse(text) { time = performance.now(); e.hidden = false; e.textContent = text; },
    accept(since = Infinity) { if (time < since) { e.hidden = true; e.textContent = ""; } },
  };
}
