"""An RTSP server for tests: rtsp_server.py PORT [WIDTH HEIGHT] serves moving H.264 at /live."""

import sys

import gi

gi.require_version("Gst", "1.0")
gi.require_version("GstRtspServer", "1.0")
from gi.repository import GLib, Gst, GstRtspServer  # noqa: E402


def main():
    port = sys.argv[1]
    width, height = (sys.argv[2], sys.argv[3]) if len(sys.argv) > 3 else ("320", "240")
    Gst.init(None)
    encoder = "x264enc tune=zerolatency speed-preset=ultrafast key-int-max=12 ! rtph264pay config-interval=-1"
    if not Gst.ElementFactory.find("x264enc"):
        encoder = "jpegenc ! rtpjpegpay"
    server = GstRtspServer.RTSPServer()
    server.set_address("127.0.0.1")
    server.set_service(port)
    factory = GstRtspServer.RTSPMediaFactory()
    factory.set_launch(
        f"( videotestsrc is-live=true pattern=ball ! video/x-raw,width={width},height={height},framerate=25/1"
        f" ! {encoder} name=pay0 pt=96 )")
    factory.set_shared(True)
    server.get_mount_points().add_factory("/live", factory)
    server.attach(None)
    GLib.MainLoop().run()


main()
