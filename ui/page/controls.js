// ---- one control for each kind of parameter -------------------------------------------------------------
// Each ...Control() returns at least {element, show(value)}. `owner`: id() returns the node's id, name(spec) the
// property's name, card is the place of the node's refusals. show() does not change a control that is in use, and keeps a
// refused value until the running value changes.
const typed = new WeakSet();  // fields with a text that is not sent yet
const kept = new WeakSet();   // fields in `typed` that lost the focus together with the window or the connection
// While there is no connection, the columns are inert. The field in use then loses the focus. Ignore the
// change event that browsers fire for this.
document.addEventListener("change", event => { if (event.target.closest("[inert]")) event.stopImmediatePropagation(); }, true);
const same = (a, b) => JSON.stringify(a) === JSON.stringify(b);
function control(spec, tag, properties, ...children) {
  return label(element(tag, {...properties, title: spec.doc}, ...children), spec.name);
}
function parameter(owner, spec, inputs, {inUse, fill, slider = [], beside = [], below = []}) {
  const reason = reasonPlace();
  reason.element.id = "reason-" + ++parameter.count;
  let last;
  const isTyped = () => inputs.some(i => typed.has(i)), forget = () => inputs.forEach(i => { typed.delete(i); kept.delete(i); });
  const apply = value => { fill(value); forget(); };
  const place = {
    accept(since) { reason.accept(since); owner.card.accept(since); mark(reason.refused); },
    refuse(text) { forget(); reason.refuse(text.startsWith(owner.id() + ": ") ? text.slice(owner.id().length + 2) : text); mark(true); },
  };
  const mark = on => inputs.forEach(i => {
    i.classList.toggle("refused", on);
    i.setAttribute("aria-invalid", on);
    on ? i.setAttribute("aria-describedby", reason.element.id) : i.removeAttribute("aria-describedby");
  });
  const set = value => { forget(); send(owner.name(spec), value, place); };
  const reset = button("undo", `reset ${spec.name} to ${shownValue(spec.default)}`, () => {
    apply(spec.default);
    set(spec.default);
    inputs[0].focus();
  });
  reset.classList.add("reset");
  for (const input of inputs) {
    input.addEventListener("input", () => typed.add(input));
    input.addEventListener("blur", () => {
      if (!isTyped() || reason.refused) return;
      if (document.activeElement === input || input.closest("[inert]")) kept.add(input);
      else if (kept.has(input)) input.onchange();  // the browser sends no event for text from before it lost the focus
      else apply(last);
    });
    input.addEventListener("keydown", event => {
      if (event.key === "Enter" && kept.has(input) && !input.matches("textarea")) return input.onchange();
      if (event.key !== "Escape") return;
      event.stopPropagation();
      place.accept();
      apply(last);
    });
  }
  const row = element("div", {className: "param"}, 
    element("span", {className: "label", title: spec.doc}, element("span", {}, ...breakable(spec.name)), reset),
    ...slider, element("div", {className: "value"}, ...beside), ...below, reason.element);
  return {element: row, place, set, show(value) {
    const changed = !same(value, last);
    last = value;
    reset.hidden = spec.default === undefined || same(value, spec.default);
    if (reason.refused && !changed) return;
    if (isTyped() || inUse() || busy.has(owner.name(spec))) return;
    if (reason.refused) place.accept();
    apply(value);
  }};
}
parameter.count = 0;
const shownValue = value => typeof value === "object" ? "its kernel" : String(value);

/// Returns the number of decimals that the range and the default need. The window's decimals() does the same.
function decimals(spec) {
  const span = spec.max - spec.min, normal = Math.abs(spec.default);
  let count = span > 200 ? 1 : span > 20 ? 2 : 3;
  if (normal > 0) while (count < 9 && normal < 0.999 * 10 ** -count) ++count;
  return count;
}
/// Returns the step of the arrow keys at `value`, as the window's stepped(): about a thousandth of the range, or a hundredth
/// of the value if the scale is logarithmic.
function stepAt(spec, value) {
  if (spec.type === "integer") return spec.step || (spec.odd ? 2 : 1);
  const finest = 10 ** -decimals(spec), wide = spec.log ? Math.abs(value) * 0.01 : (spec.max - spec.min) / 1000;
  return 10 ** Math.floor(Math.log10(Math.max(wide, finest)) + 1e-9);
}
/// Returns the value one step above or below. A step down ends where a step up would lead back, even if the step is smaller
/// there.
function stepped(spec, value, direction) {
  const exact = number => +number.toPrecision(12), step = stepAt(spec, value);
  if (direction > 0) return exact(value + step);
  const finer = stepAt(spec, value - step);
  return exact(value - (stepAt(spec, value - finer) === finer ? finer : step));
}
function numberScale(spec) {
  const integer = spec.type === "integer", step = integer ? spec.step || (spec.odd ? 2 : 1) : 1;
  const steps = integer ? Math.min(2000, (spec.max - spec.min) / step) : 500;
  const log = spec.log && spec.min >= 0 && spec.max > 0;
  const low = log ? Math.max(spec.min, spec.max / 1e4) : spec.min;
  const snap = value => {
    if (!integer) return +value.toPrecision(4);
    if (spec.step) return spec.min + Math.round((value - spec.min) / step) * step;
    const whole = Math.round(value);
    return spec.odd && whole % 2 === 0 ? Math.min(whole + 1, spec.max) : whole;
  };
  return {
    steps,
    toValue: at => at === 0 ? spec.min : snap(log ? low * Math.pow(spec.max / low, at / steps) : spec.min + (spec.max - spec.min) * at / steps),
    toPlace: value => log ? (value <= low ? 0 : steps * Math.log(value / low) / Math.log(spec.max / low))
                          : steps * (value - spec.min) / (spec.max - spec.min),
  };
}
/// Returns the number that `text` expresses, or undefined. A comma is a decimal point, but "1,000" could also be a thousand.
function parseNumber(text) {
  const ambiguous = /^[+-]?[1-9]\d{0,2},\d{3}$/, decimal = /^[+-]?(\d+[.,]?\d*|[.,]\d+)(e[+-]?\d+)?$/i;
  const value = decimal.test(text) && !ambiguous.test(text) ? Number(text.replace(",", ".")) : NaN;
  return Number.isFinite(value) ? value : undefined;
}
/// Returns a text field for a number: a field of type "number" drops or refuses decimal commas, depending on the browser.
function numberField(spec) {
  const inputMode = spec.min < 0 ? "text" : "decimal";  // keyboards for decimal numbers have no minus
  const field = control(spec, "input", {type: "text", inputMode, spellcheck: false, autocomplete: "off"});
  for (const [name, value] of [["role", "spinbutton"], ["aria-valuemin", spec.min], ["aria-valuemax", spec.max]]) field.setAttribute(name, value);
  return field;
}
/// owner.maximum(spec, value), if present, returns {max, of}: a smaller maximum, and its reason as text.
function numberControl(owner, spec) {
  let limited = spec, {steps, toValue, toPlace} = numberScale(spec);
  const limit = value => {
    const {max, of} = owner.maximum?.(spec, value) ?? spec;
    if (max === limited.max && of === limited.of) return;
    limited = {...spec, max, of};
    ({steps, toValue, toPlace} = numberScale(limited));
    slider.max = steps;
    number.setAttribute("aria-valuemax", max);
  };
  const slider = control(spec, "input", {type: "range", min: 0, max: steps, step: 1});
  const number = numberField(spec);
  const unit = element("span", {className: "unit"});
  const paint = () => {
    slider.style.setProperty("--at", 100 * slider.value / steps + "%");
    slider.setAttribute("aria-valuetext", `${number.value} ${spec.unit || ""}`);
    number.setAttribute("aria-valuenow", number.value);
    unit.textContent = +number.value === 0 && spec.zero || spec.unit || "";
  };
  const made = parameter(owner, spec, [number, slider], {
    slider: [slider], beside: [number, unit], inUse: () => isHeld(slider),
    fill(value) { number.value = value; slider.value = toPlace(value); paint(); },
  });
  slider.oninput = () => { const v = toValue(+slider.value); number.value = v; paint(); made.set(v); };
  number.onchange = () => {
    const text = number.value.trim(), value = parseNumber(text);
    if (value === undefined)
      return made.place.refuse(`expected a number ${spec.min} to ${limited.max}` + (text.includes(",") ? ", without thousands separators" : ""));
    if (limited.of && value > limited.max)
      return made.place.refuse(`${value} is not allowed: ${spec.min} to ${limited.max}, ${limited.of}`);
    number.value = value;
    slider.value = toPlace(value);
    paint();
    made.set(value);
  };
  const steppingKeys = {ArrowUp: 1, ArrowDown: -1, PageUp: 10, PageDown: -10};
  number.onkeydown = event => {
    const count = steppingKeys[event.key];
    let value = parseNumber(number.value.trim());
    if (!count || event.altKey || value === undefined) return;
    event.preventDefault();
    for (let n = 0; n < Math.abs(count); ++n) value = stepped(spec, value, count);
    number.value = Math.min(limited.max, Math.max(spec.min, value));
    number.onchange();
  };
  // Keep the slider's scale while it is dragged.
  return {...made, show(value) { if (!isHeld(slider)) limit(value); made.show(value); }};
}
function checkboxControl(owner, spec) {
  const box = control(spec, "input", {type: "checkbox", onchange: () => made.set(box.checked)});
  const made = parameter(owner, spec, [box], {beside: [box], inUse: () => false, fill(value) { box.checked = value; }});
  return made;
}
function textControl(owner, spec) {
  const matrix = spec.type === "matrix";
  const input = spec.type === "choice" ? control(spec, "select", {}, ...spec.choices.map(c => element("option", {textContent: c, value: c})))
    : matrix ? control(spec, "textarea", {spellcheck: false}) : control(spec, "input", {type: "text", spellcheck: false});
  const made = parameter(owner, spec, [input], {
    ...(matrix ? {below: [input]} : {beside: [input]}), inUse: () => false,
    fill(value) { input.value = matrix ? "[" + value.map(r => JSON.stringify(r)).join(",\n ") + "]" : value; },
  });
  input.onchange = () => {
    let value = input.value;
    if (matrix) try {
      value = JSON.parse(value);
    } catch {
      return made.place.refuse("expected rows of numbers, like [[0,1,0],[1,4,1],[0,1,0]]");
    }
    made.set(value);
  };
  return made;
}
const controlKinds = {integer: numberControl, real: numberControl, boolean: checkboxControl};
