"""Drops files on a window like a file manager: the source side of XDND.

    drop_file.py WINDOW X Y PATH…

Exit code 0 if the window accepted them.
"""

import sys
import time
from urllib.parse import quote

from Xlib import X, display
from Xlib.protocol import event

SECONDS = 10


class Drop:
    def __init__(self, window, x, y, paths):
        self.display = display.Display()
        self.root = self.display.screen().root
        self.target = self.display.create_resource_object("window", window)
        self.own = self.root.create_window(0, 0, 1, 1, 0, X.CopyFromParent)
        at = self.root.translate_coords(self.target, x, y)
        self.place = (at.x << 16) | at.y
        self.text = "".join(f"file://{quote(path)}\r\n" for path in paths).encode()
        self.uri_list = self.atom("text/uri-list")
        self.copy = self.atom("XdndActionCopy")

    def atom(self, name):
        return self.display.intern_atom(name)

    def send(self, kind, *data):
        values = (list(data) + [0] * 5)[:5]
        self.target.send_event(event.ClientMessage(window=self.target, client_type=self.atom(kind), data=(32, values)))
        self.display.flush()

    def wait_for(self, kind):
        """Returns the data of the next message of this kind. Meanwhile answers requests for the dropped data."""
        end = time.monotonic() + SECONDS
        while time.monotonic() < end:
            if not self.display.pending_events():
                time.sleep(0.01)
                continue
            e = self.display.next_event()
            if e.type == X.SelectionRequest:
                self.answer(e)
            elif e.type == X.ClientMessage and e.client_type == self.atom(kind):
                return e.data[1]
        sys.exit(f"no {kind} from the window within {SECONDS} s")

    def answer(self, request):
        request.requestor.change_property(request.property, self.uri_list, 8, self.text)
        request.requestor.send_event(
            event.SelectionNotify(time=request.time, requestor=request.requestor, selection=request.selection,
                                  target=request.target, property=request.property))
        self.display.flush()

    def run(self):
        self.own.set_selection_owner(self.atom("XdndSelection"), X.CurrentTime)
        self.send("XdndEnter", self.own.id, 5 << 24, self.uri_list)
        self.send("XdndPosition", self.own.id, 0, self.place, X.CurrentTime, self.copy)
        if not self.wait_for("XdndStatus")[1] & 1:
            sys.exit("the window does not want it")
        self.send("XdndDrop", self.own.id, 0, X.CurrentTime)
        if not self.wait_for("XdndFinished")[1]:  # a flag; GLFW puts the number of bytes there
            sys.exit("the window did not take it")


Drop(int(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), sys.argv[4:]).run()
