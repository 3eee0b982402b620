"""A local RTSP server with one medium, shared by the test servers."""

import signal

import gi

gi.require_version("Gst", "1.0")
gi.require_version("GstRtspServer", "1.0")
from gi.repository import GLib, Gst, GstRtspServer  # noqa: E402

Gst.init(None)


def serve(port, elements, prepare=lambda factory: None):
    """Serves a pipeline that ends with a payloader at rtsp://127.0.0.1:PORT/live until TERM, shared by all clients.

    `prepare` is called with the media factory before the first client can connect.
    """
    server = GstRtspServer.RTSPServer()
    server.set_address("127.0.0.1")
    server.set_service(port)
    factory = GstRtspServer.RTSPMediaFactory()
    factory.set_launch(f"( {elements} name=pay0 pt=96 )")
    factory.set_shared(True)
    prepare(factory)
    server.get_mount_points().add_factory("/live", factory)
    server.attach(None)
    loop = GLib.MainLoop()
    GLib.unix_signal_add(GLib.PRIORITY_HIGH, signal.SIGTERM, loop.quit)
    loop.run()
