// ---- the camera's controls ------------------------------------------------------------------------------
const camera = {shape: "", controls: new Map(), request: null};
function pressControl(owner, spec) {
  const reason = reasonPlace();
  const press = control(spec, "button", {type: "button", textContent: "Press", onclick: () => send(owner.name(), true, reason)});
  return {show() {}, element: element("div", {className: "param"},
    element("span", {className: "label", title: spec.doc}, element("span", {}, ...breakable(spec.name))),
    element("div", {className: "value"}, press), reason.element)};
}
/// Returns the control for a description. Integers beyond 2^53 are not exact in JavaScript, so they are edited as text.
function cameraControl(given) {
  const owner = {name: () => given.name, id: () => given.name, card: notes};
  const spec = {...given, name: given.label, doc: `${given.name}: ${given.allowed}`, type: given.type === "menu" ? "choice" : given.type};
  if (given.type === "button") return pressControl(owner, spec);
  if (given.type === "boolean") return checkboxControl(owner, spec);
  const exact = Number.isSafeInteger(given.min) && Number.isSafeInteger(given.max);
  return given.type === "integer" && exact ? numberControl(owner, spec) : textControl(owner, spec);
}
function buildCamera(specs) {
  camera.controls = new Map(specs.map(spec => [spec.name, cameraControl(spec)]));
  let group = "";
  $("controls").replaceChildren(...specs.flatMap(spec => {
    const heading = spec.group === group ? [] : [element("h3", {textContent: group = spec.group})];
    return [...heading, camera.controls.get(spec.name).element];
  }));
}
function takeCamera(specs) {
  const shape = JSON.stringify(specs.map(s => [s.name, s.label, s.min, s.max, s.choices]));
  if (shape !== camera.shape) { camera.shape = shape; buildCamera(specs); }
  $("camera").hidden = specs.length === 0;
  for (const spec of specs) {
    const shown = camera.controls.get(spec.name), usable = spec.settable && !spec.inactive;
    if (spec.value !== undefined && spec.value !== null) shown.show(spec.value);
    shown.element.classList.toggle("unusable", !usable);
    shown.element.querySelectorAll("input, select, .value button").forEach(e => { e.disabled = !usable; });
    shown.element.querySelectorAll(".reset").forEach(e => { e.hidden ||= !usable; });
  }
}
/// Reads the descriptions with every change, because a change may make other controls inactive.
function showCamera() {
  if (camera.request) { camera.request.again = true; return; }
  const request = camera.request = {again: false};
  call("list?what=controls").then(takeCamera).catch(() => {}).finally(() => {
    camera.request = null;
    if (request.again) showCamera();
  });
}
