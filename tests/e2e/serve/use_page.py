"""Opens the panel page in headless Chromium and uses its controls: use_page.py BROWSER URL FOLDER PID COMMAND…

Uses the DevTools protocol over a pipe (file descriptors 3 and 4), so that no library is needed: messages are JSON texts
that end with a zero byte. At the end kills the daemon PID, restarts it with COMMAND, and writes the new process id to
FOLDER/pid. Saves screenshots to FOLDER. Exits with 1 and a message on failure.
"""
import base64
import json
import os
import signal
import subprocess
import sys
import time

browser, url, folder, pid = sys.argv[1:5]
command = sys.argv[5:]


class Browser:
    def __init__(self):
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
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if self.evaluate(script):
                return
            time.sleep(0.2)
        sys.exit(f"{what}: not within {seconds} s; {self.evaluate('document.body.innerText')[:400]}; {self.problems}")

    def screenshot(self, name):
        data = self.call("Page.captureScreenshot", format="png")["data"]
        with open(f"{folder}/{name}.png", "wb") as file:
            file.write(base64.b64decode(data))


b = Browser()
try:
    target = b.call("Target.createTarget", url="about:blank")["targetId"]
    b.session = b.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
    for domain in ("Page", "Runtime", "Log"):
        b.call(domain + ".enable")
    for name, width, height, mobile in (("desktop", 1440, 900, False), ("phone", 390, 844, True)):
        b.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=mobile)
        b.call("Page.navigate", url=url)
        b.wait("document.getElementById('picture')?.naturalWidth > 100", name + ": a picture of the stream")
        b.wait("document.querySelectorAll('.node').length == 5", name + ": five nodes")
        b.wait("document.querySelectorAll('#timings tr').length >= 5", name + ": timings")
        overflow = b.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        if overflow > 0:
            sys.exit(f"{name}: {overflow} pixels wider than the window")
        time.sleep(1.5)
        b.screenshot(name)
    b.evaluate("""{const s = document.querySelector('[data-node=soften] input[type=range]');
                   s.value = s.max * 0.8; s.dispatchEvent(new Event('input'));
                   document.querySelector('[data-node=edges] input[type=checkbox]').click();}""")
    b.wait("document.querySelector('[data-node=edges]').classList.contains('off')", "the node is off")
    b.wait("busy.size == 0 && waiting.size == 0", "the changes are applied")
    if b.problems:
        sys.exit("errors in the page: " + "; ".join(b.problems))
    print("ok: the page at 1440 and 390 pixels, a slider and a checkbox")

    b.call("Emulation.setDeviceMetricsOverride", width=1440, height=900, deviceScaleFactor=1, mobile=False)
    b.evaluate("$('record').click()")
    b.wait("$('record').textContent == 'Stop recording' && $('facts').innerText.includes('.mkv, ')", "recording")
    b.screenshot("recording")
    b.evaluate("$('record').click()")
    b.wait("$('record').textContent == 'Record'", "the recording has ended")
    b.wait("$('log').innerText.includes('recorded ')", "the end of the recording is shown")
    b.evaluate("fetch('/api/v1/load', {method: 'POST', body: JSON.stringify(['udp://127.0.0.1:9?timeout=1'])})")
    b.wait("$('state').textContent == 'connecting'", "an unavailable source")
    time.sleep(1.5)
    b.screenshot("away")
    if b.problems:
        sys.exit("errors in the page: " + "; ".join(b.problems))
    os.kill(int(pid), signal.SIGKILL)
    b.wait("document.body.classList.contains('disconnected') && $('state').textContent == 'no connection'", "the daemon is gone")
    time.sleep(0.5)
    b.screenshot("gone")
    again = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
    with open(folder + "/pid", "w") as file:
        file.write(str(again.pid))
    b.wait("$('state').textContent == 'playing' && !document.body.classList.contains('disconnected')", "the daemon is back")
    print("ok: a recording, an unavailable source, a daemon that is killed and restarted")
finally:
    b.process.kill()
