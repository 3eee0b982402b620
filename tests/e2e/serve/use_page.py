"""Opens the panel page in headless Chromium and uses its controls: use_page.py BROWSER URL FOLDER PID COMMAND…

At the end kills the daemon PID, restarts it with COMMAND, and writes the new process id to
FOLDER/pid. Saves screenshots to FOLDER. Exits with 1 and a message on failure.
"""
import os
import signal
import subprocess
import sys
import time

from browser import Browser

browser, url, folder, pid = sys.argv[1:5]
command = sys.argv[5:]


b = Browser(browser, folder)
try:
    b.open_tab()
    for name, width, height, mobile in (("desktop", 1440, 900, False), ("phone", 390, 844, True)):
        b.size(width, height, mobile)
        b.call("Page.navigate", url=url)
        b.wait("document.getElementById('picture')?.naturalWidth > 100", name + ": a picture of the stream")
        b.wait("document.querySelectorAll('.node').length == 5", name + ": five nodes")
        b.wait("document.querySelectorAll('#timings tr').length >= 5", name + ": timings")
        overflow = b.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        if overflow > 0:
            sys.exit(f"{name}: {overflow} pixels wider than the window")
        time.sleep(0.6)
        b.screenshot(name)
    b.evaluate("""{const s = document.querySelector('[data-node=soften] input[type=range]');
                   s.value = s.max * 0.8; s.dispatchEvent(new Event('input'));
                   document.querySelector('[data-node=edges] input[type=checkbox]').click();}""")
    b.wait("document.querySelector('[data-node=edges]').classList.contains('off')", "the node is off")
    b.wait("busy.size == 0 && waiting.size == 0", "the changes are applied")
    b.check_problems()
    print("ok: the page at 1440 and 390 pixels, a slider and a checkbox")

    time_text = b.evaluate("""(() => {
        state["frame-estimated"] = true, showState();
        const text = $("time").textContent;
        state["frame-estimated"] = false, showState();
        return text;
    })()""")
    if "frame ~" not in time_text or not b.evaluate("observed.includes('frame-estimated')"):
        sys.exit(f"an estimated frame number is not marked: {time_text}")
    print("ok: an estimated frame number is marked")

    # A finger holds the slider while another client changes two parameters.
    slider = "document.querySelector('[data-node=soften] input[type=range]')"
    pointer = "dispatchEvent(new PointerEvent('pointer{}', {{pointerId: 7, button: 0, bubbles: true}}))".format
    place = b.evaluate(f"{slider}.value")
    b.evaluate(f"{slider}.{pointer('down')}")
    b.evaluate("fetch('/api/v1/set', {method: 'POST', body: JSON.stringify(['soften.sigma', 1.5, 'edges.low', 61])})")
    b.wait("document.querySelector('[data-node=edges] input[role=spinbutton]').value == '61'", "the other parameter")
    if b.evaluate(f"{slider}.value") != place:
        sys.exit("a slider moved while it was held")
    b.evaluate(f"{slider}.{pointer('up')}")
    b.wait(f"{slider}.value != '{place}'", "the value that was set during the hold")
    print("ok: a held slider keeps its value until it is released")

    pressed = b.evaluate("""["r", "."].map(key => {
        const button = $(buttonKeys.find(one => one.keys.includes(key)).id), act = button.onclick;
        let count = 0;
        button.onclick = () => ++count;
        for (const repeat of [false, true, true])
          document.body.dispatchEvent(new KeyboardEvent("keydown", {key, repeat, bubbles: true}));
        button.onclick = act;
        return count;
    })""")
    if pressed != [1, 3]:
        sys.exit(f"held keys press the buttons for recording and steps {pressed} times")
    print("ok: a held key starts one recording")

    # Safari before 16.4 rejects a script with a lookbehind.
    if b.evaluate("document.documentElement.outerHTML.includes('(?' + '<')"):
        sys.exit("a regular expression has a lookbehind")
    times = b.evaluate("[0, 12.48, 59.9996, 3723.5].map(clock).join()")
    if times != "00:00.000,00:12.480,00:59.999,62:03.500":
        sys.exit(f"the page shows times as {times}")
    parts = b.evaluate("breakable('a_long_name').map(part => part.tagName || part)")
    if parts != ["a_", "WBR", "long_", "WBR", "name"]:
        sys.exit(f"a long name breaks into {parts}")

    b.evaluate("document.querySelector('[data-node=soften] .name').click()")
    b.wait("document.querySelector('[data-node=soften] .params').offsetHeight == 0", "the node is folded")
    b.call("Page.navigate", url=url)
    b.wait("document.querySelectorAll('.node').length == 5", "the page is loaded again")
    b.wait("document.querySelector('[data-node=soften]').classList.contains('folded') && "
           "!document.querySelector('[data-node=edges]').classList.contains('folded')", "the node is still folded")
    b.evaluate("document.querySelector('[data-node=soften] .name').click()")
    b.check_problems()
    print("ok: a folded node stays folded when the page is loaded again")

    b.size(1440, 900)
    sigma = "document.querySelector('[data-node=soften] input[role=spinbutton]')"
    low = "document.querySelector('[data-node=edges] input[role=spinbutton]')"
    b.evaluate(f"{sigma}.focus(); {sigma}.select()")
    b.type("2.75")
    steps = b.evaluate("past.steps.map(s => s.what)")
    first = b.session
    tabs = [first]
    for n in range(2, 8):  # browsers open six connections to a server
        tabs.append(b.open_tab())
        b.size(1440, 900)
        b.call("Page.navigate", url=url)
        b.wait("$('state').textContent == 'playing' && cards.length == 5 && events?.readyState == 1 && $('picture').naturalWidth > 100",
               f"tab {n}", 10)
    b.evaluate("send('edges.low', 66)")
    b.show_tab(first)
    b.wait(f"!document.hidden && events?.readyState == 1 && {low}.value == '66' && $('picture').naturalWidth > 100", "the first tab again", 10)
    # Chromium sends the typed value when the tab is hidden.
    if b.evaluate(f"{sigma}.value") != "2.75" or b.evaluate("past.steps.map(s => s.what)")[:len(steps)] != steps:
        sys.exit(f"the typed value or the steps are lost: {b.evaluate(f'{sigma}.value')}, {b.evaluate('past.steps.map(s => s.what).join()')}")
    b.wait(f"document.activeElement == {sigma}", "the field has the focus", 5)
    b.key("Enter")
    b.wait("busy.size == 0 && past.steps.some(s => s.what == 'soften sigma 2.75')", "the typed value is sent", 5)
    for tab in tabs[1:]:
        b.session = tab
        if not b.evaluate("document.hidden && events === null"):
            sys.exit("a hidden page holds a connection")
    b.session = first
    b.check_problems()
    print("ok: seven tabs, text that is typed before the tab is hidden")

    b.evaluate("$('record').click()")
    b.wait("$('record').textContent == 'Stop recording' && $('facts').innerText.includes('.mkv, ')", "recording")
    b.screenshot("recording")
    b.evaluate("$('record').click()")
    b.wait("$('record').textContent == 'Record'", "the recording has ended")
    b.wait("$('log').innerText.includes('recorded ')", "the end of the recording is shown")
    b.evaluate("$('virtual-camera').click()")
    b.wait("$('virtual-camera').getAttribute('aria-pressed') == 'true' && $('facts').innerText.includes('lensd: ') || "
           "document.body.innerText.includes('PipeWire')", "the virtual camera is on, or the reason is shown")
    b.evaluate("$('virtual-camera').getAttribute('aria-pressed') == 'true' && $('virtual-camera').click()")
    b.wait("$('virtual-camera').getAttribute('aria-pressed') == 'false'", "the virtual camera is off")
    # Other tests send to port 9.
    b.evaluate("fetch('/api/v1/load', {method: 'POST', body: JSON.stringify(['udp://127.0.0.1:11?timeout=1'])})")
    b.wait("$('state').textContent == 'connecting'", "an unavailable source")
    time.sleep(0.6)
    b.screenshot("away")
    b.check_problems()
    b.evaluate(f"{sigma}.focus(); {sigma}.select()")
    b.type("3.5")
    os.kill(int(pid), signal.SIGKILL)
    b.wait("document.body.classList.contains('disconnected') && $('state').textContent == 'no connection'", "the daemon is gone")
    time.sleep(0.5)
    b.screenshot("gone")
    again = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
    with open(folder + "/pid", "w") as file:
        file.write(str(again.pid))
    b.wait("$('state').textContent == 'playing' && !document.body.classList.contains('disconnected')", "the daemon is back")
    if b.evaluate(f"{sigma}.value") != "3.5":
        sys.exit(f"the typed value is lost: {b.evaluate(f'{sigma}.value')}")
    b.wait(f"document.activeElement == {sigma}", "the field has the focus again", 5)
    b.key("Tab")
    b.wait("busy.size == 0 && past.steps[past.now].what == 'soften sigma 3.5'", "the typed value is sent", 5)
    print("ok: a recording, an unavailable source, a daemon that is killed and restarted")
finally:
    b.process.kill()
