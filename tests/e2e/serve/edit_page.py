"""Edits the graph in the panel page with clicks and keys: edit_page.py BROWSER URL FOLDER LENSD SOCKET

The graph must be median, gaussian@soften, canny@edges, levels, convolve. Compares the page with `lensd ctl` after every
edit, also at the width of a phone. Saves screenshots to FOLDER. Exits with 1 and a message on failure.
"""
import json
import subprocess
import sys
import time

from browser import ALT, CTRL, Browser

browser, url, folder, lensd, socket = sys.argv[1:6]


def ctl(*args):
    done = subprocess.run([lensd, "ctl", "--json", "--socket", socket, *args], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"ctl {args}: {done.stdout}{done.stderr}")
    return json.loads(done.stdout).get("data")


def running():
    return [node["id"] for node in ctl("get", "graph")["nodes"]]


def expect(nodes, what):
    """Waits until both the daemon and the page have these nodes."""
    nodes = nodes.split()
    end = time.monotonic() + 10
    while time.monotonic() < end:
        shown = b.evaluate("[...document.querySelectorAll('.node')].map(e => e.dataset.node)")
        if running() == shown == nodes:
            return
        time.sleep(0.05)
    sys.exit(f"{what}: expected {nodes}, the daemon has {running()}, the page shows {shown}")


def input_of(node, label):
    return f"[data-node={node}] input[role=spinbutton][aria-label={label}]"


def fill(selector, text, key="Enter"):
    b.click(selector)
    b.evaluate(f"document.querySelector({json.dumps(selector)}).select()")
    b.type(text)
    if key:
        b.key(key)


def reason(node):
    return f"document.querySelector('[data-node={node}] .reason:not([hidden])')?.textContent || ''"


def add_and_undo():
    b.click("[data-node=soften] .insert button")
    b.wait("document.activeElement == $('search')", "the search has the focus", 5)
    b.type("sharp")
    b.wait("$('found').children.length == 1", "one filter found", 5)
    b.screenshot("picker")
    legible("the list of filters")
    b.key("Enter")
    expect("median soften unsharp edges levels convolve", "add with keys")
    b.wait("document.activeElement.closest('[data-node=unsharp]')", "the new node has the focus", 5)
    nodes = {node["id"]: node["inputs"] for node in ctl("get", "graph")["nodes"]}
    if nodes["unsharp"] != ["soften"] or nodes["edges"] != ["unsharp"]:
        sys.exit(f"wrong inputs: {nodes}")
    b.key("z", CTRL)
    expect("median soften edges levels convolve", "undo by Ctrl+Z")
    b.click("#redo")
    expect("median soften unsharp edges levels convolve", "redo")
    b.click("#add")
    b.wait("$('picker').open", "the list is open", 5)
    b.type("no such filter")
    b.wait("!$('none-found').hidden", "nothing found", 5)
    b.key("Escape")
    b.wait("!$('picker').open", "the list is closed", 5)
    b.click("#top button")
    b.type("stabilize")
    b.key("Enter")
    b.wait("$('picker').open && $('picker-reason').textContent.includes('needs tracks')", "the reason in the list", 5)
    b.key("Escape")
    expect("median soften unsharp edges levels convolve", "a refused filter")
    b.wait("$('notes').children.length == 0", "the reason is shown once", 5)


def move_and_remove():
    b.evaluate("document.querySelector('[data-node=unsharp] .name').focus()")
    b.key("ArrowUp", ALT)
    expect("median unsharp soften edges levels convolve", "move by Alt+Up")
    b.wait("document.activeElement.closest('[data-node=unsharp]')", "the moved node keeps the focus", 5)
    b.click("[data-node=unsharp] .icon[aria-expanded]")
    b.click("[data-node=unsharp] .actions button[aria-label^='move down']")
    expect("median soften unsharp edges levels convolve", "move by a button")
    b.evaluate("for (const e of document.querySelectorAll('.name[aria-expanded=true]')) e.click()")
    b.drag("[data-node=convolve] .handle", 0, -130)
    b.wait("cards.at(-1).id != 'convolve'", "move by dragging", 5)
    moved = [node for node in running() if node != "convolve"]
    if moved != ["median", "soften", "unsharp", "edges", "levels"]:
        sys.exit(f"dragging changed the order of other nodes: {moved}")
    b.click("#undo")
    expect("median soften unsharp edges levels convolve", "undo of dragging")
    b.evaluate("for (const e of document.querySelectorAll('.name[aria-expanded=false]')) e.click()")
    b.evaluate("document.querySelector('[data-node=unsharp] .name').focus()")
    b.key("Delete")
    expect("median soften edges levels convolve", "remove by Delete")
    b.wait("document.activeElement.closest('[data-node=edges]')", "the next node has the focus", 5)


def refusals_and_values():
    fill(input_of("soften", "sigma"), "999")
    b.wait(reason("soften") + ".includes('999 is not allowed')", "the reason of the refusal", 5)
    b.screenshot("refused")
    legible("a refused value")
    fill(input_of("soften", "sigma"), "2.5")
    b.wait(f"!({reason('soften')})", "the reason is cleared", 5)
    if ctl("get", "soften.sigma") != 2.5:
        sys.exit("the accepted value is not set")
    b.key("z", CTRL)
    b.wait(f"document.querySelector({json.dumps(input_of('soften', 'sigma'))}).value == 1.6", "undo of a value", 5)
    steps = b.evaluate("past.now")
    b.drag("[data-node=edges] input[type=range][aria-label=low]", 30, 0)
    b.wait("busy.size == 0 && past.steps[past.now].what?.startsWith('edges low')", "dragging a slider", 5)
    b.evaluate("settle()")
    if b.evaluate("past.now") != steps + 1 or ctl("get", "edges.low") == 50:
        sys.exit(f"a drag is not one step: {b.evaluate('past.steps.map(s => s.what).join()')}")
    b.click("#undo")
    b.wait(f"document.querySelector({json.dumps(input_of('edges', 'low'))}).value == 50", "undo of a drag", 5)
    fill(input_of("soften", "sigma"), "999")
    b.wait(reason("soften"), "the second refusal", 5)
    ctl("set", "soften.sigma", "4")
    b.wait(f"document.querySelector({json.dumps(input_of('soften', 'sigma'))}).value == 4", "the other client's value", 5)
    b.wait(f"!({reason('soften')})", "the refusal is outdated", 5)
    fill(input_of("median", "radius"), "3")
    b.wait("busy.size == 0 && past.steps[past.now].what == 'median radius 3'", "the value is a step", 5)
    b.click("[data-node=median] .icon[aria-expanded]")
    b.click("[data-node=median] .actions button:nth-of-type(5)")  # the reset button
    b.wait("past.steps[past.now].what == 'reset median'", "reset", 5)
    if ctl("get", "median.radius") != 1:
        sys.exit("the node was not reset")


def numbers():
    sigma = input_of("soften", "sigma")
    shown = f"document.querySelector({json.dumps(sigma)})"
    before = ctl("get", "soften.sigma")
    for text, value in (("1,5", 1.5), ("12.3456", 12.3456), (" .25 ", 0.25), ("1e1", 10), ("0,125", 0.125)):
        fill(sigma, text)
        b.wait(f"busy.size == 0 && !refreshWaits && {shown}.value == '{value}'", f"{text} is shown as {value}", 5)
        if ctl("get", "soften.sigma") != value:
            sys.exit(f"{text} has set {ctl('get', 'soften.sigma')}")
    for key, value in (("ArrowUp", 0.126), ("ArrowDown", 0.125)):
        b.key(key)
        # Wait until the page has read the value: it would replace a refused text.
        b.wait(f"busy.size == 0 && past.steps[past.now].graph.nodes.find(n => n.id == 'soften').params.sigma == {value}", key, 5)
    for text in ("1,000", "1,2,3", "x", "", "1e999", "0x5"):
        fill(sigma, text or " ")
        b.wait(reason("soften") + ".includes('expected a number 0.1 to 20')", f"'{text}' is refused", 5)
    if ctl("get", "soften.sigma") != 0.125:
        sys.exit("a refused text was sent")
    fill(input_of("median", "radius"), "1,000")
    b.wait(reason("median") + ".includes('thousands')", "1,000 is refused for an integer", 5)
    b.key("Escape")
    fill(sigma, str(before))
    b.wait(f"busy.size == 0 && !({reason('soften')})", "the value before", 5)
    keyboards = b.evaluate("['levels', 'soften'].map(id => document.querySelector(`[data-node=${id}] input[role=spinbutton]`).inputMode).join()")
    if keyboards != "text,decimal":
        sys.exit(f"keyboards of phones: {keyboards}")


def arrow_keys():
    for node, name, start, keys in (
            ("levels", "gamma", 1, {"ArrowUp": 1.01, "ArrowDown": 1, "PageUp": 1.1, "PageDown": 1}),
            ("levels", "gamma", 1, {"ArrowDown": 0.999, "ArrowUp": 1}),
            ("levels", "brightness", 0, {"ArrowUp": 0.001, "ArrowDown": 0, "PageDown": -0.01, "PageUp": 0}),
            ("levels", "white", 200.25, {"ArrowDown": 200.15, "ArrowUp": 200.25}),
            ("klt", "quality", 0.01, {"ArrowUp": 0.011, "ArrowDown": 0.01}),
            ("klt", "min_eigen", 0.0001, {"ArrowUp": 0.0002, "ArrowDown": 0.0001}),
            ("klt", "min_distance", 8, {"ArrowDown": 7, "ArrowUp": 8})):
        if node == "klt" and "klt" not in running():
            ctl("node-add", "klt")
            expect("median soften edges levels convolve klt", "a node with small values")
        fill(input_of(node, name), str(start))
        for key, value in keys.items():
            b.key(key)
            b.wait(f"busy.size == 0 && document.querySelector({json.dumps(input_of(node, name))}).value == '{value}'",
                   f"{node}.{name} after {key} is {value}", 5)
            if ctl("get", f"{node}.{name}") != value:
                sys.exit(f"{node}.{name} after {key}: {ctl('get', f'{node}.{name}')} instead of {value}")
    ctl("node-remove", "klt")
    ctl("node-reset", "levels")
    expect("median soften edges levels convolve", "the graph as before")


def there_and_back():
    before = ctl("get", "median.radius")
    fill(input_of("median", "radius"), "3")
    b.wait("busy.size == 0 && past.steps[past.now].what == 'median radius 3'", "the value is a step", 5)
    steps = b.evaluate("past.now")
    b.click(input_of("edges", "low"))
    b.key("ArrowUp")
    b.wait("busy.size == 0 && past.steps[past.now].what?.startsWith('edges low')", "a step up", 5)
    b.evaluate("sentTime = performance.now()")  # the keys are one gesture
    b.key("ArrowDown")
    b.wait("busy.size == 0 && past.steps[past.now].what == 'median radius 3'", "the step back", 5)
    if b.evaluate("past.now") != steps:
        sys.exit(f"a change and its reversal are a step: {b.evaluate('past.steps.map(s => s.what).join()')}")
    b.evaluate("past.steps.splice(past.now, 0, {...past.steps[past.now]}); ++past.now")
    b.evaluate("document.activeElement.blur()")
    b.key("z", CTRL)
    b.wait(f"past.now == {steps - 1}", "undo skips a step without differences", 5)
    if ctl("get", "median.radius") != before:
        sys.exit("the value before is not restored")
    b.key("y", CTRL)
    b.wait(f"past.now == {steps}", "redo", 5)
    b.key("y", CTRL)
    b.wait(f"past.now == {steps + 1} && $('redo').ariaDisabled == 'true'", "redo skips a step without differences", 5)
    b.evaluate("undo(-1)")
    b.wait(f"past.now == {steps - 1}", "undo", 5)
    if ctl("get", "median.radius") != before or b.evaluate("!$('graph-reason').hidden"):
        sys.exit("undo was refused")


def refused_plans():
    compose = "[data-node=convolve] input[aria-label=compose]"
    # The notice of a refused plan arrives before the reply.
    b.evaluate("""window.plainCall = call;
        call = async (...request) => { const data = await plainCall(...request); await sleep(request[0] == 'set' ? 400 : 0); return data; }""")
    for text in ("bad1", "bad2"):
        fill(compose, text)
        b.wait("busy.size == 0", "the reply", 5)
        b.evaluate("settle()")
        b.wait(reason("convolve") + f".includes('{text}')", "the reason of the refused plan", 5)
        if ctl("get", "convolve.compose") != "":
            sys.exit("a refused plan runs")
    fill(compose, "box(3), sharpen")
    b.wait(f"busy.size == 0 && !({reason('convolve')})", "the refusal is cleared", 5)
    b.evaluate("call = plainCall")
    ctl("node-reset", "convolve")


def rename():
    b.evaluate("document.querySelector('[data-node=levels] .name').focus()")
    b.key("F2")
    fill("[data-node=levels] .rename input", "a b")
    b.wait(reason("levels") + ".includes('spaces')", "a refused name", 5)
    fill("[data-node=levels] .rename input", "tones")
    expect("median soften edges tones convolve", "rename")
    b.wait(f"!({reason('tones')})", "the refusal is cleared", 5)


def other_clients():
    fill(input_of("soften", "sigma"), "3.25", key=None)
    ctl("node-add", "box", "source")
    ctl("node-move", "edges", "1")
    expect("box edges median soften tones convolve", "edits of another client")
    b.wait("document.activeElement.value == '3.25'", "the typed value is kept", 5)
    b.key("Enter")
    b.wait("busy.size == 0 && past.steps[past.now].what == 'soften sigma 3.25'", "the typed value is sent", 5)
    b.click("[data-node=tones] input[type=checkbox]")
    ctl("set", "edges.low", "77")
    b.wait(f"document.querySelector({json.dumps(input_of('edges', 'low'))}).value == 77", "a value of another client", 5)
    if ctl("get", "soften.sigma") != 3.25 or ctl("get", "tones.enabled"):
        sys.exit("the value or the checkbox is lost")


def crop_ranges():
    ctl("node-add", "crop")

    def maximum(name):
        return f"document.querySelector({json.dumps(input_of('crop', name))})?.ariaValueMax"
    b.wait(f"{maximum('width')} == 960 && {maximum('x')} == 959 && {maximum('y')} == 539", "ranges of the picture", 5)
    fill(input_of("crop", "width"), "961")
    b.wait(reason("crop") + ".includes('961 is not allowed: 0 to 960, the picture has 960×540 pixels')", "a refused width", 5)
    b.screenshot("crop")
    if ctl("get", "crop.width") != 0:
        sys.exit("the width outside the picture was sent")
    fill(input_of("crop", "width"), "960")
    b.wait(f"!({reason('crop')})", "the largest width", 5)
    b.wait("busy.size == 0", "the width is sent", 5)
    if ctl("get", "crop.width") != 960:
        sys.exit("the largest width was not sent")
    slider = "document.querySelector('[data-node=crop] input[type=range][aria-label=height]')"
    b.evaluate(f"{{ {slider}.value = {slider}.max; {slider}.dispatchEvent(new Event('input')); }}")
    b.wait("busy.size == 0", "the slider's value is sent", 5)
    if ctl("get", "crop.height") != 540:
        sys.exit(f"the end of the slider is {ctl('get', 'crop.height')}")
    second = ctl("node-add", "crop")["node"]

    def follows(width, what):
        b.wait(f"document.querySelector({json.dumps(input_of(second, 'width'))})?.ariaValueMax == {width}", what, 5)
    follows(960, "the range of the second crop")
    ctl("set", "crop.width", "320")
    follows(320, "the picture became narrower")
    sizes = ctl("get", "sizes")
    if (sizes["source"], sizes["crop"], sizes[second]) != ([960, 540], [320, 540], [320, 540]):
        sys.exit(f"wrong sizes: {sizes}")
    ctl("set", "crop.enabled", "false")
    follows(960, "the node before is off")
    ctl("node-remove", second)
    ctl("node-remove", "crop")
    expect("median soften edges levels convolve", "the graph as before")


CONTRAST = """(() => {
  const luminance = c => c.slice(0, 3).map(v => v / 255).map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const parse = text => text.match(/[\\d.]+/g).map(Number);
  const low = [];
  for (const e of document.querySelectorAll("body *")) {
    const text = [...e.childNodes].filter(n => n.nodeType === 3 && n.data.trim()).map(n => n.data.trim()).join(" ");
    if (!(text || e.matches("input:not([type=range], [type=checkbox])")) || !e.checkVisibility() || e.closest("option, #stage")) continue;
    let behind = e;
    while (behind && (parse(getComputedStyle(behind).backgroundColor)[3] ?? 1) === 0) behind = behind.parentElement;
    const [a, b] = [getComputedStyle(e).color, getComputedStyle(behind).backgroundColor].map(c => luminance(parse(c)) + 0.05);
    if (Math.max(a, b) / Math.min(a, b) < 4.5) low.push((text || e.id || e.ariaLabel) + " " + (Math.max(a, b) / Math.min(a, b)).toFixed(2));
  }
  return low.join("; ");
})()"""


def legible(where):
    if low := b.evaluate(CONTRAST):
        sys.exit(f"{where}: text with a contrast below 4.5:1: {low}")


def phone():
    b.size(360, 740, True)
    b.call("Emulation.setTouchEmulationEnabled", enabled=True)
    b.tap("[data-node=box] .icon[aria-expanded]")
    b.tap("[data-node=box] .actions button[aria-label^='move down']")
    expect("edges box median soften tones convolve", "move by touch")
    b.tap("[data-node=tones] .insert button")
    b.wait("$('picker').open", "the list opens by touch", 5)
    b.screenshot("phone-picker")
    b.type("invert")
    b.wait("$('found').children.length > 0", "a filter is found", 5)
    b.tap("#found li")
    expect("edges box median soften tones invert convolve", "add by touch")
    wider = b.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    if wider > 0:
        sys.exit(f"{wider} pixels wider than a phone")
    b.place("[data-node=edges] .name")
    b.screenshot("phone-edit")
    legible("a phone")
    b.tap("[data-node=box] .actions .danger")
    expect("edges median soften tones invert convolve", "remove by touch")


b = Browser(browser, folder)
try:
    b.open_tab()
    b.size(1280, 800)
    b.call("Page.navigate", url=url)
    expect("median soften edges levels convolve", "the start")
    for part in (crop_ranges, add_and_undo, move_and_remove, refusals_and_values, numbers, arrow_keys, there_and_back,
                 refused_plans, rename, other_clients, phone):
        part()
    # Chromium logs every response with status 422.
    b.problems = [p for p in b.problems if "status of 422" not in p]
    b.check_problems()
    print("ok: nodes added, moved, removed, renamed and reset; refusals; undo; other clients; a phone")
finally:
    b.process.kill()
