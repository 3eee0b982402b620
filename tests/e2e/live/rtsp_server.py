"""An RTSP server for tests: rtsp_server.py PORT [WIDTH HEIGHT] serves moving H.264 at /live."""

import sys

from rtsp_media import Gst, serve


def main():
    port = sys.argv[1]
    width, height = (sys.argv[2], sys.argv[3]) if len(sys.argv) > 3 else ("320", "240")
    encoder = "x264enc tune=zerolatency speed-preset=ultrafast key-int-max=12 ! rtph264pay config-interval=-1"
    if not Gst.ElementFactory.find("x264enc"):
        encoder = "jpegenc ! rtpjpegpay"
    serve(port, "videotestsrc is-live=true pattern=ball"
                f" ! video/x-raw,width={width},height={height},framerate=25/1 ! {encoder}")


main()
