#!/usr/bin/env python3
"""A desktop portal for tests: answers the requests of org.freedesktop.portal.ScreenCast and .Camera without a dialog.

usage: fake_portal.py NODE_FILE LOG
       NODE_FILE has the ID of the shared node. LOG gets a line for each call, and "asked" or "restored" for each
       started session. A file LOG.answer changes the answers: decline: the user declines; silent: no response

Restore tokens are valid once and for the sender that got them, as those of xdg-desktop-portal with persist_mode 1.
"""
import os
import pathlib
import socket
import sys

from gi.repository import Gio, GLib

INTERFACES = """<node>
 <interface name="org.freedesktop.portal.ScreenCast">
  <method name="CreateSession"><arg type="a{sv}" direction="in"/><arg type="o" direction="out"/></method>
  <method name="SelectSources"><arg type="o" direction="in"/><arg type="a{sv}" direction="in"/>
   <arg type="o" direction="out"/></method>
  <method name="Start"><arg type="o" direction="in"/><arg type="s" direction="in"/><arg type="a{sv}" direction="in"/>
   <arg type="o" direction="out"/></method>
  <method name="OpenPipeWireRemote"><arg type="o" direction="in"/><arg type="a{sv}" direction="in"/>
   <arg type="h" direction="out"/></method>
  <property name="AvailableSourceTypes" type="u" access="read"/>
  <property name="AvailableCursorModes" type="u" access="read"/>
  <property name="version" type="u" access="read"/>
 </interface>
 <interface name="org.freedesktop.portal.Camera">
  <method name="AccessCamera"><arg type="a{sv}" direction="in"/><arg type="o" direction="out"/></method>
  <method name="OpenPipeWireRemote"><arg type="a{sv}" direction="in"/><arg type="h" direction="out"/></method>
 </interface>
</node>"""
REQUEST = '<node><interface name="org.freedesktop.portal.Request"><method name="Close"/></interface></node>'
SESSION = '<node><interface name="org.freedesktop.portal.Session"><method name="Close"/></interface></node>'
PATH = "/org/freedesktop/portal/desktop"

node_file, log = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
bus = Gio.bus_get_sync(Gio.BusType.SESSION)
starts = 0
tokens = set()  # (sender, token)
restoring = {}  # path of a session: the valid token that it has named


def note(text):
    with log.open("a") as file:
        file.write(text + "\n")


def export(path, xml, what):
    """Exports an object whose only method is Close."""
    def close(*call):
        note(f"closed {what}")
        call[-1].return_value(None)
    try:
        bus.register_object(path, Gio.DBusNodeInfo.new_for_xml(xml).interfaces[0], close, None, None)
    except GLib.Error:
        pass  # exported already


def respond(sender, options, invocation, results):
    path = f"{PATH}/request/{sender[1:].replace('.', '_')}/{options['handle_token']}"
    export(path, REQUEST, "request")
    invocation.return_value(GLib.Variant("(o)", (path,)))
    answer_file = pathlib.Path(f"{log}.answer")
    answer = answer_file.read_text().strip() if answer_file.exists() else ""
    if answer == "silent":
        return
    code = 1 if answer == "decline" else 0
    bus.emit_signal(sender, path, "org.freedesktop.portal.Request", "Response",
                    GLib.Variant("(ua{sv})", (code, results if code == 0 else {})))


def call(_bus, sender, _path, interface, method, arguments, invocation):
    global starts
    values = arguments.unpack()
    options = values[-1]
    note(f"{interface.rsplit('.', 1)[1]}.{method} " + " ".join(f"{k}={v}" for k, v in sorted(options.items())
                                                                 if "token" not in k or k == "restore_token"))
    if method == "OpenPipeWireRemote":
        remote = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            remote.connect(os.environ["XDG_RUNTIME_DIR"] + "/pipewire-0")
        except OSError as error:
            invocation.return_dbus_error("org.freedesktop.portal.Error.Failed", f"PipeWire: {error}")
            return
        descriptors = Gio.UnixFDList.new()
        handle = descriptors.append(remote.fileno())
        invocation.return_value_with_unix_fd_list(GLib.Variant("(h)", (handle,)), descriptors)
        return
    results = {}
    if method == "CreateSession":
        session = f"{PATH}/session/{sender[1:].replace('.', '_')}/{options['session_handle_token']}"
        export(session, SESSION, "session")
        results = {"session_handle": GLib.Variant("s", session)}
    elif method == "SelectSources":
        token = (sender, options.get("restore_token"))
        if token in tokens:
            restoring[values[0]] = token
    elif method == "Start":
        token = restoring.get(values[0])
        note("restored" if token else "asked")
        starts += 1
        tokens.discard(token)
        tokens.add((sender, f"token{starts}"))
        properties = {"source_type": GLib.Variant("u", 1), "position": GLib.Variant("(ii)", (0, 0))}
        streams = [(int(node_file.read_text()), properties)]
        results = {"restore_token": GLib.Variant("s", f"token{starts}"),
                   "streams": GLib.Variant("a(ua{sv})", streams)}
    respond(sender, options, invocation, results)


def read_property(_bus, _sender, _path, _interface, name):
    return GLib.Variant("u", {"AvailableSourceTypes": 7, "AvailableCursorModes": 7, "version": 4}[name])


for description in Gio.DBusNodeInfo.new_for_xml(INTERFACES).interfaces:
    bus.register_object(PATH, description, call, read_property, None)
Gio.bus_own_name_on_connection(bus, "org.freedesktop.portal.Desktop", Gio.BusNameOwnerFlags.NONE,
                               lambda *_: note("ready"), None)
GLib.MainLoop().run()
