#!/usr/bin/env bash
# Network cameras: uneven delivery, low rates, refused logins, late starts. network_cameras.py has the cases.
# shellcheck source=../common/harness.sh
. "$(dirname "$0")/../common/harness.sh"
need_tools python3 ffmpeg ffprobe
python3 "${0%.sh}.py"
