#!/usr/bin/env python3
"""A service org.freedesktop.ScreenSaver for tests.

usage: fake_screen_saver.py LOG
       LOG gets the line "ready", then "Inhibit PROGRAM: REASON" and "UnInhibit" for the calls, and "refused" for a call
       with an unknown cookie
"""
import pathlib
import sys

from gi.repository import Gio, GLib

INTERFACE = """<node><interface name="org.freedesktop.ScreenSaver">
 <method name="Inhibit"><arg type="s" direction="in"/><arg type="s" direction="in"/><arg type="u" direction="out"/></method>
 <method name="UnInhibit"><arg type="u" direction="in"/></method>
</interface></node>"""
NAME, PATH = "org.freedesktop.ScreenSaver", "/org/freedesktop/ScreenSaver"

log = pathlib.Path(sys.argv[1])
cookies = set()


def note(text):
    with log.open("a") as file:
        file.write(text + "\n")


def call(_bus, sender, _path, _interface, method, arguments, invocation):
    if method == "Inhibit":
        cookie = 1000 + len(cookies)
        cookies.add((sender, cookie))
        note("Inhibit " + ": ".join(arguments.unpack()))
        invocation.return_value(GLib.Variant("(u)", (cookie,)))
        return
    known = (sender, arguments.unpack()[0]) in cookies
    note(method if known else "refused")
    invocation.return_value(None)


bus = Gio.bus_get_sync(Gio.BusType.SESSION)
bus.register_object(PATH, Gio.DBusNodeInfo.new_for_xml(INTERFACE).interfaces[0], call, None, None)
Gio.bus_own_name_on_connection(bus, NAME, Gio.BusNameOwnerFlags.NONE, lambda *_: note("ready"), None)
GLib.MainLoop().run()
