"""Headless Chromium, controlled over the DevTools protocol with Python's standard library only.

The protocol runs over a pipe (file descriptors 3 and 4): messages are JSON texts that end with a zero byte. Failures end
the program with status 1 and a message.
"""
import base64
import json
import os
import subprocess
import sys
import time

PATIENCE = 3  # a browser is slow on a machine that runs other tests too
KEYS = {"Enter": 13, "Escape": 27, "Delete": 46, "ArrowUp": 38, "ArrowDown": 40, "PageUp": 33, "PageDown": 34, "Tab": 9, "F2": 113}
ALT, CTRL, SHIFT = 1, 2, 8


class Browser:
    def __init__(self, browser, folder):
        self.folder = folder
        to_read, self.out = os.pipe()
        self.inn, to_write = os.pipe()

        def descriptors():
            first, second = os.dup(to_read), os.dup(to_write)  # move them away from 3 and 4 first
            os.dup2(first, 3)
            os.dup2(second, 4)

        self.process = subprocess.Popen(
            [browser, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--remote-debugging-pipe",
             "--user-data-dir=" + folder + "/profile", "--no-first-run", "about:blank"],
            preexec_fn=descriptors, close_fds=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.buffer, self.count, self.problems = b"", 0, []
        self.session = None

    def receive(self):
        while b"\0" not in self.buffer:
            chunk = os.read(self.inn, 1 << 16)
            if not chunk:
                sys.exit("the browser ended")
            self.buffer += chunk
        text, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(text)

    def call(self, method, **params):
        self.count += 1
        message = {"id": self.count, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.out, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.receive()
            if answer.get("method") in ("Runtime.exceptionThrown", "Log.entryAdded"):
                self.problems.append(json.dumps(answer["params"])[:400])
            if answer.get("id") == self.count:
                if "error" in answer:
                    sys.exit(f"{method}: {answer['error']}")
                return answer["result"]

    def evaluate(self, script):
        result = self.call("Runtime.evaluate", expression=script, returnByValue=True)
        return result["result"].get("value")

    def wait(self, script, what, seconds=40):
        seconds *= PATIENCE
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if self.evaluate(f"!!({script})"):
                return
            time.sleep(0.04)
        sys.exit(f"{what}: not within {seconds} s; {self.evaluate('document.body.innerText')[:400]}; {self.problems}")

    def screenshot(self, name):
        data = self.call("Page.captureScreenshot", format="png")["data"]
        with open(f"{self.folder}/{name}.png", "wb") as file:
            file.write(base64.b64decode(data))

    def open_tab(self):
        """Opens a tab in the foreground. The calls that follow go to it."""
        self.session = None
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self.call(domain + ".enable")
        return self.session

    def show_tab(self, session):
        self.session = session
        self.call("Page.bringToFront")

    def size(self, width, height, mobile=False):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=mobile)

    def place(self, selector):
        """Scrolls an element into view and returns its centre."""
        self.wait(f"document.querySelector({json.dumps(selector)})", selector + " exists", 5)
        return self.evaluate(f"""(() => {{
            const e = document.querySelector({json.dumps(selector)});
            e.scrollIntoView({{block: "center"}});
            const box = e.getBoundingClientRect();
            return [box.left + box.width / 2, box.top + box.height / 2];
        }})()""")

    def mouse(self, kind, x, y, **more):
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", buttons=int(kind != "mouseReleased"), **more)

    def click(self, selector):
        x, y = self.place(selector)
        self.mouse("mousePressed", x, y, clickCount=1)
        self.mouse("mouseReleased", x, y, clickCount=1)

    def tap(self, selector):
        x, y = self.place(selector)
        self.call("Input.dispatchTouchEvent", type="touchStart", touchPoints=[{"x": x, "y": y}])
        self.call("Input.dispatchTouchEvent", type="touchEnd", touchPoints=[])

    def drag(self, selector, dx, dy, steps=8):
        x, y = self.place(selector)
        self.mouse("mousePressed", x, y, clickCount=1)
        for i in range(1, steps + 1):
            self.mouse("mouseMoved", x + dx * i / steps, y + dy * i / steps)
        self.mouse("mouseReleased", x + dx, y + dy, clickCount=1)

    def type(self, text):
        self.call("Input.insertText", text=text)

    def key(self, name, modifiers=0):
        code = KEYS.get(name) or ord(name.upper())
        key = {"key": name, "windowsVirtualKeyCode": code, "modifiers": modifiers}
        if name == "Enter":
            key["text"] = "\r"
        self.call("Input.dispatchKeyEvent", type="keyDown", **key)
        self.call("Input.dispatchKeyEvent", type="keyUp", **key)

    def check_problems(self):
        if self.problems:
            sys.exit("errors in the page: " + "; ".join(self.problems))
