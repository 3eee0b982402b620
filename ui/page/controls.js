// ---- one control for each kind of parameter -------------------------------------------------------------
// Each ...Control() returns at least {element, show(value)}. `owner`: id() returns the node's id, name(spec) the
// property's name, card is the place of the node's refusals. show() does not change a control that is in use, and keeps a
// refused value until the running value changes.
const typed = new WeakSet();  // fields with a text that is not sent yet
const digits = value => Number.isInteger(value) ? String(value) : String(+value.toPrecision(4));
const same = (a, b) => JSON.stringify(a) === JSON.stringify(b);
function control(spec, tag, properties, ...children) {
  return label(element(tag, {...properties, title: spec.doc}, ...children), spec.name);
}
function parameter(owner, spec, inputs, {inUse, fill, slider = [], beside = [], below = []}) {
  const reason = reasonPlace();
  reason.element.id = "reason-" + ++parameter.count;
  let last;
  const isTyped = () => inputs.some(i => typed.has(i)), forget = () => inputs.forEach(i => typed.delete(i));
  const apply = value => { fill(value); forget(); };
  const place = {
    accept() { reason.accept(); owner.card.accept(); mark(false); },
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
    input.addEventListener("blur", () => { if (isTyped() && !reason.refused) apply(last); });
    input.addEventListener("keydown", event => {
      if (event.key !== "Escape") return;
      event.stopPropagation();
      place.accept();
      apply(last);
    });
  }
  const row = element("div", {className: "param"}, 
    element("span", {className: "label", title: spec.doc}, element("span", {textContent: spec.name}), reset),
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
const shownValue = value => typeof value === "number" ? digits(value) : typeof value === "object" ? "its kernel" : String(value);

function numberScale(spec) {
  const integer = spec.type === "integer", step = integer ? spec.step || (spec.odd ? 2 : 1) : "any";
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
    step, steps,
    toValue: at => at === 0 ? spec.min : snap(log ? low * Math.pow(spec.max / low, at / steps) : spec.min + (spec.max - spec.min) * at / steps),
    toPlace: value => log ? (value <= low ? 0 : steps * Math.log(value / low) / Math.log(spec.max / low))
                          : steps * (value - spec.min) / (spec.max - spec.min),
  };
}
/// owner.maximum(spec, value), if present, returns {max, of}: a smaller maximum, and its reason as text.
function numberControl(owner, spec) {
  let limited = spec, {step, steps, toValue, toPlace} = numberScale(spec);
  const limit = value => {
    const {max, of} = owner.maximum?.(spec, value) ?? spec;
    if (max === limited.max && of === limited.of) return;
    limited = {...spec, max, of};
    ({steps, toValue, toPlace} = numberScale(limited));
    slider.max = steps;
    number.max = max;
  };
  const slider = control(spec, "input", {type: "range", min: 0, max: steps, step: 1});
  const number = control(spec, "input", {type: "number", min: spec.min, max: spec.max, step, inputMode: "decimal"});
  const unit = element("span", {className: "unit"});
  const paint = () => {
    slider.style.setProperty("--at", 100 * slider.value / steps + "%");
    slider.setAttribute("aria-valuetext", `${number.value} ${spec.unit || ""}`);
    unit.textContent = +number.value === 0 && spec.zero || spec.unit || "";
  };
  const made = parameter(owner, spec, [number, slider], {
    slider: [slider], beside: [number, unit], inUse: () => slider.matches(":active"),
    fill(value) { number.value = digits(value); slider.value = toPlace(value); paint(); },
  });
  slider.oninput = () => { const v = toValue(+slider.value); number.value = digits(v); paint(); made.set(v); };
  number.onchange = () => {
    if (number.value === "") return made.place.refuse(`expected a number ${spec.min} to ${limited.max}`);
    if (limited.of && +number.value > limited.max)
      return made.place.refuse(`${number.value} is not allowed: ${spec.min} to ${limited.max}, ${limited.of}`);
    slider.value = toPlace(+number.value);
    paint();
    made.set(+number.value);
  };
  // While the slider is dragged, its scale stays.
  return {...made, show(value) { if (!slider.matches(":active")) limit(value); made.show(value); }};
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
