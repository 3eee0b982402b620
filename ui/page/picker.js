// ---- the list of filters to add ----------------------------------------------------------------------------
const picker = {after: "", chosen: 0, found: [], place: reasonPlace($("picker-reason"))};

function openPicker(after) {
  picker.after = after;
  $("picker-title").textContent = "Add a filter " + (after === "source" ? "at the top" : belowText(after));
  $("search").value = "";
  picker.place.accept();
  $("picker").showModal();
  showFilters();
}
/// Returns how well a filter matches the words. 0: its name and description lack a word, 1: they have all words,
/// 2: a word is in its name, 3: its name begins with a word.
function match(filter, words) {
  const name = filter.name.replaceAll("_", " "), all = name + " " + filter.name + " " + filter.doc.toLowerCase();
  if (!words.every(word => all.includes(word))) return 0;
  return words.some(word => filter.name.startsWith(word)) ? 3 : words.some(word => all.slice(0, 2 * name.length + 1).includes(word)) ? 2 : 1;
}
function showFilters() {
  const words = $("search").value.toLowerCase().split(/\s+/).filter(Boolean);
  picker.found = [...filters.values()].map(f => [f, match(f, words)]).filter(([, m]) => m > 0)
    .sort((a, b) => b[1] - a[1] || a[0].name.localeCompare(b[0].name)).map(([f]) => f);
  $("found").replaceChildren(...picker.found.map((filter, i) => {
    const option = element("li", {id: "filter-" + i, onclick: () => addFilter(filter.name)},
      element("b", {textContent: filter.name}), element("span", {textContent: filter.doc}));
    option.setAttribute("role", "option");
    return option;
  }));
  $("none-found").hidden = picker.found.length > 0;
  choose(0);
}
function choose(index) {
  picker.chosen = Math.max(0, Math.min(index, picker.found.length - 1));
  [...$("found").children].forEach((option, i) => option.setAttribute("aria-selected", i === picker.chosen));
  const option = $("found").children[picker.chosen];
  option?.scrollIntoView({block: "nearest"});
  option ? $("search").setAttribute("aria-activedescendant", option.id) : $("search").removeAttribute("aria-activedescendant");
}
async function addFilter(name) {
  if (picker.adding) return;
  picker.adding = true;
  const added = await edit("add " + name, "node-add", [name, picker.after], picker.place);
  if (added) {
    $("picker").close();
    focusNode(added.node);
  }
  picker.adding = false;
}
$("search").oninput = () => { picker.place.accept(); showFilters(); };
$("search").onkeydown = event => {
  const step = {ArrowDown: 1, ArrowUp: -1, PageDown: 6, PageUp: -6}[event.key];
  if (step) { event.preventDefault(); choose(picker.chosen + step); }
  if (event.key === "Escape") { event.preventDefault(); $("picker").close(); }  // the browser would only clear the text
  if (event.key === "Enter" && picker.found[picker.chosen]) { event.preventDefault(); addFilter(picker.found[picker.chosen].name); }
};
$("picker").onclick = event => { if (event.target === $("picker")) $("picker").close(); };  // a click outside
$("picker-close").onclick = () => $("picker").close();
