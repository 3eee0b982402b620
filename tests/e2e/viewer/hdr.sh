#!/usr/bin/env bash
# HDR clips in the window. An SDR picture in PQ looks like the original, whether it is tone-mapped before the graph or,
# with hdr = "keep", when it is drawn. The probe and snapshots then have the coded values. HLG looks the same in both ways.
# shellcheck source=../common/viewer.sh
. "$(dirname "$0")/../common/viewer.sh"
# shellcheck source=../common/hdr.sh
. "$(dirname "$0")/../common/hdr.sh"
need_tools ffmpeg python3

width=192 height=108

colourful "$WORK/sdr.png" $width $height
for case in pq:white:smpte2084 hlg:1000:arib-std-b67; do
  IFS=: read -r transfer light tag <<<"$case"
  raw "$WORK/sdr.png" rgb24 | hdr encode "$transfer" "$light" gbrp12le $width left >"$WORK/$transfer.coded"
  ffmpeg -v error -f rawvideo -pix_fmt gbrp12le -video_size ${width}x$height -i "$WORK/$transfer.coded" \
    -vf "setparams=color_trc=$tag:color_primaries=bt2020" -c:v ffv1 "$WORK/$transfer.mkv" </dev/null ||
    fail "ffmpeg cannot write $transfer"
done
printf '[colour]\npeak = 203\n' >"$WORK/white.toml"

# opened ARGS…: opens a window and shows the picture at 100 %.
opened() {
  start_window "$@" --pause --backend=cpu
  one_to_one $width $height
  xdotool mousemove --window "$WINDOW" 20 500 # away from the picture
  wait_for 20 steady || fail "the picture changes"
}
# screen FILE: saves the samples of the displayed picture.
screen() {
  shot "$WORK/screen.png" "$PX" "$PY" $width $height
  deep "$WORK/screen.png" >"$1"
}
# steady: succeeds if the window shows the same picture twice and the picture is not of one colour.
steady() {
  screen "$WORK/before" && sleep 0.2 && screen "$WORK/after" && cmp -s "$WORK/before" "$WORK/after" &&
    [[ $(identify -format %k "$WORK/screen.png") -gt 100 ]]
}
# close_to A B MOST: fails unless the mean difference is at most MOST/255.
close_to() {
  local mean
  mean=$(hdr mean "$WORK/$1" "$WORK/$2") || fail "$1 and $2: $mean"
  awk -v mean="$mean" -v most="$3" 'BEGIN { exit !(mean <= most) }' || fail "$1 and $2 differ by $mean/255"
  echo "ok: $1 and $2 differ by $mean/255"
}

start_display
opened "$WORK/sdr.png"
screen "$WORK/sdr"
quit_window

opened "$WORK/pq.mkv" -c "$WORK/white.toml"
screen "$WORK/pq"
close_to sdr pq 1
quit_window

opened "$WORK/pq.mkv" -c "$WORK/white.toml" --hdr keep
screen "$WORK/pq_kept"
close_to sdr pq_kept 1
snapshot "$WORK/kept.png"
key x
xdotool mousemove --window "$WINDOW" $((PX + 150)) $((PY + 40))
wait_for 20 value_is probe/at "150 40" || fail "the probe is at '$(value probe/at)'"
coded=$(deep "$WORK/kept.png" | python3 -c 'import array, sys
coded = array.array("H", open(sys.argv[1], "rb").read())
kept = array.array("H", sys.stdin.buffer.read())
size = len(coded) // 3
for i in range(size):
    for c, plane in enumerate((2, 0, 1)):
        exact = coded[plane * size + i] * 65535 / 4095
        if abs(kept[3 * i + c] - exact) > 1: sys.exit(f"pixel {i}: {kept[3 * i + c]} instead of {exact}")
i = 3 * (40 * int(sys.argv[2]) + 150)
print(*kept[i:i + 3])' "$WORK/pq.coded" $width) || fail "the snapshot does not have the coded values"
expect_value probe/output "$coded"
deep "$WORK/kept.png" >"$WORK/kept"
hdr mean "$WORK/sdr" "$WORK/kept" | awk '{ exit !($1 > 20) }' || fail "the coded values are nearly those of the original"
echo "ok: the snapshot and the probe have the coded values: $coded"
quit_window

opened "$WORK/hlg.mkv"
screen "$WORK/hlg"
quit_window
opened "$WORK/hlg.mkv" --hdr keep
screen "$WORK/hlg_kept"
close_to hlg hlg_kept 1
quit_window
