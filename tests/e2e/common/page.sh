# shellcheck shell=bash
# Helpers for tests of the panel page: `browser` is Chromium, `port` a free port for --http, without a token.
# shellcheck source=daemon.sh
. "$(dirname "${BASH_SOURCE[0]}")/daemon.sh"
need_tools python3
browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome) || skip "no Chromium is installed"

export LENSD_HTTP_AUTH=false
export LENSD_CONTROL_FOLDER=$WORK/captures
port=$(free_port tcp)
