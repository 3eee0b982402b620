"""A minimal window manager for tests: maps and iconifies windows, and keeps the property _NET_WM_STATE as clients ask.

    window_manager.py

Writes "ready" when it manages the display.
"""

from Xlib import X, Xatom, display

REMOVE, ADD, TOGGLE = range(3)  # the actions of _NET_WM_STATE

shown = display.Display()
root = shown.screen().root
own = root.create_window(0, 0, 1, 1, 0, X.CopyFromParent)
STATE, ABOVE, FULLSCREEN, CHECK, SUPPORTED, ICONIFY = map(
    shown.intern_atom, ("_NET_WM_STATE", "_NET_WM_STATE_ABOVE", "_NET_WM_STATE_FULLSCREEN", "_NET_SUPPORTING_WM_CHECK",
                        "_NET_SUPPORTED", "WM_CHANGE_STATE"))
for window in root, own:
    window.change_property(CHECK, Xatom.WINDOW, 32, [own.id])
root.change_property(SUPPORTED, Xatom.ATOM, 32, [STATE, ABOVE, FULLSCREEN])
root.change_attributes(event_mask=X.SubstructureRedirectMask | X.SubstructureNotifyMask)
shown.sync()
print("ready", flush=True)


def change_state(window, action, atoms):
    now = window.get_full_property(STATE, Xatom.ATOM)
    states = set(now.value) if now else set()
    for atom in filter(None, atoms):
        keep = action == ADD or (action == TOGGLE and atom not in states)
        states = states | {atom} if keep else states - {atom}
    window.change_property(STATE, Xatom.ATOM, 32, sorted(states))


while True:
    e = shown.next_event()
    if e.type == X.MapRequest:
        e.window.map()
        e.window.change_property(shown.intern_atom("WM_STATE"), shown.intern_atom("WM_STATE"), 32, [1, X.NONE])
    elif e.type == X.ConfigureRequest:
        names = {X.CWX: "x", X.CWY: "y", X.CWWidth: "width", X.CWHeight: "height"}
        e.window.configure(**{name: getattr(e, name) for bit, name in names.items() if e.value_mask & bit})
    elif e.type == X.ClientMessage and e.client_type == STATE:
        change_state(e.window, e.data[1][0], e.data[1][1:3])
    elif e.type == X.ClientMessage and e.client_type == ICONIFY:
        e.window.unmap()
    shown.sync()
