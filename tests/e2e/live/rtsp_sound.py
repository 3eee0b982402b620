"""An RTSP server for tests: rtsp_sound.py PORT FILE serves a Matroska file with JPEG and PCM at /live."""

import sys

from rtsp_media import serve


def main():
    port, path = sys.argv[1:]
    serve(port, f"filesrc location={path} ! matroskademux name=demux"
                " demux.audio_0 ! queue ! audioconvert ! audioresample ! audio/x-raw,rate=8000,channels=1 ! alawenc"
                " ! rtppcmapay name=pay1 pt=8"
                " demux.video_0 ! queue ! rtpjpegpay")


main()
