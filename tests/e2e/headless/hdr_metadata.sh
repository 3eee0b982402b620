#!/usr/bin/env bash
# The HDR metadata of a source in what is written: mastering display, MaxCLL and MaxFALL, in containers and bitstreams.
# shellcheck source=../common/daemon.sh
. "$(dirname "$0")/../common/daemon.sh"
need_tools ffmpeg ffprobe python3

cat >"$WORK/metadata.py" <<'PY'
# Prints transfer and HDR metadata of a file's video stream, in units of 1/50000, 1/10000 cd/m² and cd/m².
import fractions, json, subprocess, sys
found = subprocess.check_output(["ffprobe", "-v", "error", "-of", "json", "-select_streams", "v", "-show_streams", sys.argv[1]])
stream = json.loads(found)["streams"][0]
out = [stream.get("color_transfer", "none")]
for data in sorted(stream.get("side_data_list", []), key=lambda d: d["side_data_type"]):
    values = lambda scale, *names: [str(round(fractions.Fraction(data[n]) * scale)) for n in names]
    if data["side_data_type"] == "Mastering display metadata":
        for colour in "green", "blue", "red", "white_point":
            out += values(50000, colour + "_x", colour + "_y")
        out += values(10000, "max_luminance", "min_luminance")
    elif data["side_data_type"] == "Content light level metadata":
        out += values(1, "max_content", "max_average")
print(*out)
PY
# has WANTED FILE: checks the metadata of the container. Without a number in WANTED, the file has only a transfer.
has() {
  local found
  found=$(python3 -B "$WORK/metadata.py" "$2") || fail "ffprobe cannot read $2"
  [[ $found == "$1" ]] || fail "$2: the stream has '$found' instead of '$1'"
}
# coded WANTED FILE: checks the metadata of the bitstream (H.264, HEVC). The light levels are first.
coded() {
  local found
  found=$(ffmpeg -hide_banner -nostdin -i "$2" -c copy -bsf:v trace_headers -f null - 2>&1 |
    awk 'NF < 4 || seen[$(NF-3)]++ { next }
      /_light_level/ { light = light $NF " " }
      /display_primaries_|white_point_|_mastering_luminance/ { display = display $NF " " }
      END { print light display }')
  [[ $found == "$1 " ]] || fail "$2: the bitstream has '$found' instead of '$1'"
}

ffmpeg -v error -h encoder=libx265 2>&1 | grep -q "^Encoder" || skip "FFmpeg has no libx265"
# clip TRANSFER: writes $WORK/TRANSFER.mkv. The mastering display is that of P3, with 1000 and 0.0005 cd/m².
clip() {
  ffmpeg -v error -f lavfi -i testsrc2=size=128x96:rate=10:duration=0.5 -pix_fmt yuv420p10le -c:v libx265 \
    -preset ultrafast -x265-params "log-level=error:colorprim=bt2020:colormatrix=bt2020nc:transfer=$1:max-cll=812,203:\
master-display=G(13250,34500)B(7500,3000)R(34000,16000)WP(15635,16450)L(10000000,5)" "$WORK/$1.mkv" ||
    fail "ffmpeg cannot write the clip"
}
display="13250 34500 7500 3000 34000 16000 15635 16450 10000000 5" light="812 203"
clip smpte2084
clip arib-std-b67
clip bt2020-10
for transfer in smpte2084 arib-std-b67; do
  for ending in mkv mp4; do
    expect 0 "$WORK/$transfer.mkv" --hdr keep --headless --graph flip -o "$WORK/$transfer-keep.$ending"
    has "$transfer $light $display" "$WORK/$transfer-keep.$ending"
  done
  coded "$light $display" "$WORK/$transfer-keep.mkv"
done
echo "ok: --hdr keep in Matroska, MP4 and H.264"

expect 0 "$WORK/smpte2084.mkv" --headless -o "$WORK/sdr.mkv"
has bt709 "$WORK/sdr.mkv"
expect 0 "$WORK/bt2020-10.mkv" --hdr keep --headless -o "$WORK/wide.mkv"
has bt709 "$WORK/wide.mkv"
echo "ok: SDR outputs have no HDR metadata"

# A recording of the source and one of the output in HEVC.
for hdr in tonemap keep; do
  cat >"$WORK/daemon.toml" <<TOML
[source]
url = "$WORK/smpte2084.mkv"
[colour]
hdr = "$hdr"
[record]
codec = "libx265"
[control]
folder = "$WORK/captures"
TOML
  start_daemon -c "$WORK/daemon.toml" --loop-file
  what=source
  [[ $hdr == tonemap ]] || what=output
  ctl record "$what.mkv" "$what" >/dev/null || fail "record"
  recorded() { (($(field record frames) >= 5)); }
  wait_for 10 recorded || fail "nothing is recorded: $(ctl get record)"
  ctl record off >/dev/null || fail "record off"
  stop_daemon
  has "smpte2084 $light $display" "$WORK/captures/$what.mkv"
  coded "$light $display" "$WORK/captures/$what.mkv"
done
echo "ok: recordings of the source and of the output in HEVC"

# part NAME TRANSFER PRIMARIES MATRIX: writes a transport stream with 8 bits.
part() {
  ffmpeg -v error -f lavfi -i testsrc2=size=320x240:rate=25:duration=2 -c:v libx264 -preset ultrafast -g 5 \
    -vf "format=yuv420p,setparams=color_trc=$2:color_primaries=$3:colorspace=$4" -color_trc "$2" -color_primaries "$3" \
    -colorspace "$4" "$WORK/$1.ts" || fail "ffmpeg cannot write $1"
}
part sdr bt709 bt709 bt709
part hlg arib-std-b67 bt2020 bt2020nc
cat "$WORK/sdr.ts" "$WORK/hlg.ts" >"$WORK/both.ts"
# coding FILE: prints matrix, transfer and primaries of the stream.
coding() { ffprobe -v error -select_streams v -show_entries stream=color_space,color_transfer,color_primaries -of csv=p=0 "$1"; }

expect 0 "$WORK/both.ts" --hdr keep --headless -o null: --record "$WORK/both.mkv"
[[ $(coding "$WORK/both.mkv") == smpte170m,bt709,bt709 ]] || fail "SDR: $(coding "$WORK/both.mkv")"
[[ $(coding "$WORK/both-2.mkv") == bt2020nc,arib-std-b67,bt2020 ]] || fail "HLG: $(coding "$WORK/both-2.mkv")"
refused 1 "transfer or primaries changed" "$WORK/both.ts" --hdr keep --precision 8 --headless -o "$WORK/one.mkv"
echo "ok: a change from SDR to HLG starts another file"

port=$(free_port udp)
printf '[source]\nurl = "udp://127.0.0.1:%s"\n[colour]\nhdr = "keep"\n[control]\nfolder = "%s"\n' "$port" \
  "$WORK/captures" >"$WORK/daemon.toml"
start_daemon -c "$WORK/daemon.toml"
wait_for 20 ctl record late.mkv || fail "record"
ffmpeg -v error -re -stream_loop -1 -i "$WORK/hlg.ts" -c copy -f mpegts "udp://127.0.0.1:$port?pkt_size=1316" </dev/null &
sender=$!
STARTED+=("$sender")
recorded() { (($(field record frames) >= 20)); }
wait_for 20 recorded || fail "nothing is recorded: $(ctl get record)"
ctl record off >/dev/null || fail "record off"
stop_daemon
kill "$sender"
[[ $(coding "$WORK/captures/late.mkv") == bt2020nc,arib-std-b67,bt2020 ]] || fail "late: $(coding "$WORK/captures/late.mkv")"
echo "ok: the tags of a sender that starts later"
