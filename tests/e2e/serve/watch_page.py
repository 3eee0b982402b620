"""Watches the picture of the panel page in headless Chromium: watch_page.py BROWSER PORT FOLDER LENSD SOCKET

The daemon at PORT of the loopback interface must play a portrait picture with the graph gaussian. The page connects
through a proxy that can stop forwarding. Saves screenshots to FOLDER. Exits with 1 and a message on failure.
"""
import socket
import subprocess
import sys
import threading
import time

from browser import Browser

browser, port, folder, lensd, control = sys.argv[1:6]


class Proxy:
    """Forwards connections to a port. `refused` is a path: requests for it are disconnected."""

    def __init__(self, target):
        self.target, self.refused, self.requests, self.pairs = target, "", [], []
        self.open = threading.Event()
        self.open.set()
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            client = self.listener.accept()[0]
            server = socket.create_connection(("127.0.0.1", self.target))
            self.pairs.append((client, server))
            for pair in ((client, server), (server, client)):
                threading.Thread(target=self.forward, args=pair, daemon=True).start()

    def forward(self, source, sink):
        try:
            while data := source.recv(1 << 16):
                self.open.wait()
                first = data.split(b"\r\n")[0].decode("latin-1")
                if first.endswith("HTTP/1.1"):
                    self.requests.append(first.split()[1])
                    if self.refused and self.requests[-1].startswith(self.refused):
                        break
                sink.sendall(data)
        except OSError:
            pass
        for end in (source, sink):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def outage(self, wait_for_page):
        """Stops forwarding until the page has noticed, and closes the server's ends like a server's timeout."""
        self.open.clear()
        old = list(self.pairs)
        wait_for_page()
        for _, server in old:
            server.close()
        self.open.set()


def ctl(*args):
    subprocess.run([lensd, "ctl", "--socket", control, *args], check=True, stdout=subprocess.DEVNULL)


def sizes():
    for name, width, height in (("desktop", 1440, 900), ("phone", 390, 844), ("phone-wide", 844, 390), ("low", 1440, 600)):
        b.size(width, height, width == 390)
        b.wait("$('picture').naturalHeight == 480", name + ": the portrait picture", 10)
        stage, picture = b.evaluate("""["stage", "picture"].map(id => {
            const box = $(id).getBoundingClientRect();
            return [box.left, box.top, box.right, box.bottom];
        })""")
        b.screenshot("portrait-" + name)
        if picture[0] < stage[0] or picture[1] < stage[1] or picture[2] > stage[2] + 0.5 or picture[3] > stage[3] + 0.5:
            sys.exit(f"{name}: the picture {picture} is cropped by its stage {stage}")
        shown = min((picture[2] - picture[0]) * 480 / 270, picture[3] - picture[1])
        if shown < 0.4 * height:
            sys.exit(f"{name}: the picture is only {shown:.0f} pixels high")
    b.size(1440, 900)


def texts():
    b.evaluate("""window.changes = 0;
        window.first = [...$("facts").children];
        new MutationObserver(list => { changes += list.length; }).observe($("state"), {childList: true, characterData: true, subtree: true});
        getSelection().selectAllChildren($("facts").children[1]);
        window.frame = $("time").textContent""")
    b.wait("$('time').textContent != frame", "the picture plays", 10)
    time.sleep(1.2)
    if b.evaluate("changes") or not b.evaluate("first.every(e => e.isConnected)"):
        sys.exit("texts that did not change were rewritten")
    if "testsrc2" not in (b.evaluate("getSelection().toString()") or ""):
        sys.exit("the selection is lost")
    print("ok: unchanged texts stay, also selected ones")


def keys():
    b.click("#pause")
    b.wait("$('pause').textContent == 'Play'", "paused", 10)
    time.sleep(0.3)
    for selector in ("#step", "[data-node=gaussian] input[type=range]", "[data-node=gaussian] input[type=checkbox]"):
        b.evaluate(f"document.querySelector('{selector}').focus()")
        b.evaluate("window.frame = state.frame")
        b.key(".")
        b.wait("state.frame == frame + 1", f"the key . with the focus on {selector}", 5)
    b.evaluate("document.querySelector('[role=spinbutton]').focus()")
    b.key("p")
    time.sleep(0.3)
    if b.evaluate("$('pause').textContent") != "Play":
        sys.exit("a letter in a field is used as a key")
    b.evaluate("$('step').focus(); window.frame = state.frame")
    b.call("Input.dispatchKeyEvent", type="keyDown", key=" ", code="Space", text=" ", windowsVirtualKeyCode=32)
    b.call("Input.dispatchKeyEvent", type="keyUp", key=" ", code="Space", windowsVirtualKeyCode=32)
    b.wait("state.frame == frame + 1", "Space presses the button in focus", 5)
    if b.evaluate("$('pause').textContent") != "Play":
        sys.exit("Space on a button paused as well")
    print("ok: keys while buttons and sliders have the focus")


RED = """(() => {
  const canvas = document.createElement("canvas");
  canvas.width = canvas.height = 1;
  const context = canvas.getContext("2d");
  context.drawImage($("picture"), 0, 0, 1, 1);
  return context.getImageData(0, 0, 1, 1).data[0];
})()"""


def paused():
    ctl("pause", "false")
    ctl("load", "test:color=c=white:size=160x120:rate=10")
    b.wait(f"$('picture').naturalWidth == 160 && {RED} > 200", "a white picture", 10)
    ctl("pause", "true")
    ctl("node-add", "invert")
    b.wait(f"{RED} < 50", "the inverted picture while paused", 3)
    ctl("node-remove", "invert")
    b.wait(f"{RED} > 200", "the first picture again", 3)
    ctl("pause", "false")
    print("ok: changes of the graph while paused are shown at once")


def outage():
    lost = "document.body.classList.contains('disconnected') && !$('message').hidden && $('state').textContent == 'no connection'"
    b.evaluate("""window.frame = state.frame;
        window.pending = window.most = 0;
        const plain = fetch;
        window.fetch = (...request) => {
          most = Math.max(most, ++pending);
          return plain(...request).finally(() => --pending);
        }""")
    proxy.outage(lambda: b.wait(lost, "the outage is shown", 10))
    b.wait("$('state').textContent == 'playing' && !document.body.classList.contains('disconnected') && state.frame > frame",
           "the connection is back", 10)
    if (most := b.evaluate("most")) > 3:
        sys.exit(f"{most} requests at the same time")
    ctl("load", "test:color=c=black:size=200x100:rate=10")
    b.wait(f"$('picture').naturalWidth == 200 && {RED} < 50", "the picture plays again", 10)
    print("ok: an outage of the network is shown, and the picture plays after it")


def start():
    for refused in ("/api/v1/filters", "/api/v1/get", "/api/v1/stats"):
        proxy.refused = refused
        b.call("Page.navigate", url=f"http://127.0.0.1:{proxy.port}/")
        b.wait("document.body.classList.contains('disconnected') && $('message').innerText.includes('lost')", refused + " fails", 10)
        proxy.refused = ""
        b.wait("$('state').textContent == 'playing' && !document.body.classList.contains('disconnected') && cards.length",
               "the page after a failure of " + refused, 10)
    print("ok: the page starts after a request has failed")


proxy = Proxy(int(port))
b = Browser(browser, folder)
try:
    b.open_tab()
    b.size(1440, 900)
    b.call("Page.navigate", url=f"http://127.0.0.1:{proxy.port}/")
    b.wait("document.querySelector('.node') && $('picture').naturalWidth > 100", "the page", 20)
    for part in (sizes, texts, keys, paused):
        part()
    b.check_problems()
    outage()
    start()
finally:
    b.process.kill()
