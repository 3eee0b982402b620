#!/usr/bin/env bash
# Settings of the conversion of HDR and BT.601 sources: in the configuration, in a daemon, and refused values.
# shellcheck source=../common/daemon.sh
. "$(dirname "$0")/../common/daemon.sh"
need_tools ffmpeg python3

# clip NAME FORMAT TRANSFER PRIMARIES MATRIX: writes a short FFV1 file with tags. A filter sets them, because FFmpeg 7
# ignores them as options of the encoder.
clip() {
  ffmpeg -v error -y -f lavfi -i testsrc2=size=96x50:rate=10:duration=0.5 \
    -vf "format=$2,setparams=color_trc=$3:color_primaries=$4:colorspace=$5" -c:v ffv1 "$WORK/$1.mkv" ||
    fail "ffmpeg cannot write $1"
}
clip pq yuv420p10le smpte2084 bt2020 bt2020nc
clip hlg yuv420p10le arib-std-b67 bt2020 bt2020nc
clip sd yuv420p smpte170m smpte170m smpte170m

pixels() { ffmpeg -v error -i "$1" -frames:v 1 -pix_fmt rgb48le -f rawvideo -; }
cat >"$WORK/statistics.py" <<'PY'
# Prints the mean of the samples and the largest difference between R, G and B of a pixel.
import array, sys
v = array.array("H", sys.stdin.buffer.read())
print(sum(v) // len(v), max(max(v[i:i + 3]) - min(v[i:i + 3]) for i in range(0, len(v), 3)))
PY
# shown CLIP SETTING…: prints the statistics of the first picture with these settings.
shown() {
  local clip=$1
  shift
  printf '[colour]\n' >"$WORK/colour.toml"
  printf '%s\n' "$@" >>"$WORK/colour.toml"
  expect 0 "$WORK/$clip.mkv" --headless -c "$WORK/colour.toml" --frames 1 --overwrite -o "$WORK/shown.png"
  pixels "$WORK/shown.png" | python3 "$WORK/statistics.py"
}

for clip in pq hlg; do
  read -r plain colourful < <(shown $clip)
  read -r _ grey < <(shown $clip "saturation = 0")
  ((colourful > 20000 && grey <= 4)) || fail "$clip: saturation 0 leaves differences of $grey, 1 has $colourful"
  read -r knee _ < <(shown $clip "knee = 1.5")
  read -r television _ < <(shown $clip 'display = "bt1886"')
  ((knee < plain)) || fail "$clip: a knee of 1.5 does not darken: $knee, $plain"
  ((television != plain)) || fail "$clip: bt1886 changes nothing"
done
read -r low _ < <(shown pq "peak = 400")
read -r high _ < <(shown pq "peak = 10000")
((low > high)) || fail "PQ: a higher peak compresses more: $low, $high"
[[ $(shown sd) == "$(shown sd "bt601 = false")" ]] || fail "the primaries of BT.601 are converted without being asked"
[[ $(shown sd) != "$(shown sd "bt601 = true")" ]] || fail "bt601 = true changes nothing"
echo "ok: the settings in a configuration"

# Transparency in WebM is a second stream of pictures: the left half is at 40, the right half opaque.
for codec in libvpx libvpx-vp9; do
  ffmpeg -v error -y -f lavfi -i testsrc2=size=64x48:rate=10:duration=0.5 -c:v $codec -auto-alt-ref 0 -crf 4 -b:v 2M \
    -vf "format=yuva420p,geq=lum='lum(X,Y)':cb='cb(X,Y)':cr='cr(X,Y)':a='if(lt(X,32),40,255)'" "$WORK/alpha.webm" ||
    fail "ffmpeg writes no WebM with transparency"
  expect 0 "$WORK/alpha.webm" --headless --start 0.3 --frames 1 --overwrite -o "$WORK/shown.png"
  alpha=$(ffmpeg -v error -i "$WORK/shown.png" -vf alphaextract,crop=60:1:2:20,scale=3:1:flags=neighbor -pix_fmt gray \
    -f rawvideo - | od -An -tu1)
  read -r left _ right <<<"$alpha"
  ((left > 36 && left < 44 && right > 250)) || fail "$codec: alpha is $alpha, not 40 and 255"
done
expect 0 "$WORK/alpha.webm" --headless --msg-level info --overwrite -o "$WORK/opaque.mp4"
grep -q "opaque.mp4: the source has transparency, and libx264 does not keep it" "$WORK/stderr" || fail "no word of the lost transparency: $(<"$WORK/stderr")"
expect 0 "$WORK/alpha.webm" --headless --msg-level info --overwrite -o "$WORK/clear.webm"
! grep -q "does not keep it" "$WORK/stderr" || fail "WebM keeps transparency: $(<"$WORK/stderr")"
echo "ok: transparency in WebM"

# grey FILE ARGS…: prints R, G and B of the first pixel with 8 bits.
grey() {
  expect 0 "$@" --headless --frames 1 --overwrite -o "$WORK/shown.png"
  ffmpeg -v error -i "$WORK/shown.png" -pix_fmt rgb24 -f rawvideo - | od -An -tu1 -N3
}
python3 -c 'import struct, sys
sys.stdout.buffer.write(b"PF\n8 8\n-1.0\n" + struct.pack("<f", 0.18) * 8 * 8 * 3)' >"$WORK/float.pfm"
python3 -c 'import sys
sys.stdout.buffer.write(b"P6\n8 8\n255\n" + bytes([46]) * 8 * 8 * 3)' >"$WORK/grey.ppm"
for tag in linear bt709; do
  ffmpeg -v error -i "$WORK/grey.ppm" -vf "format=gbrp,setparams=color_trc=$tag" -c:v ffv1 "$WORK/grey-$tag.mkv" ||
    fail "ffmpeg cannot write $tag"
done
for precision in 8 16; do
  [[ $(grey "$WORK/float.pfm" --precision $precision) == " 118 118 118" ]] || fail "float: $(grey "$WORK/float.pfm")"
  [[ $(grey "$WORK/grey-linear.mkv" --precision $precision) == " 118 118 118" ]] || fail "the tag linear has no effect"
done
[[ $(grey "$WORK/float.pfm" --hdr keep) == "  46  46  46" ]] || fail "keep converts: $(grey "$WORK/float.pfm" --hdr keep)"
[[ $(grey "$WORK/grey-bt709.mkv") == "  46  46  46" ]] || fail "SDR is converted: $(grey "$WORK/grey-bt709.mkv")"
echo "ok: linear light"

clip ycgco yuv420p bt709 bt709 ycgco
expect 0 "$WORK/ycgco.mkv" --headless -o null:
(($(grep -c "matrix ycgco is not supported, decoding with smpte170m" "$WORK/stderr") == 1)) || fail "$(<"$WORK/stderr")"
expect 0 "$WORK/sd.mkv" --headless -o null:
! grep -q "not supported" "$WORK/stderr" || fail "$(<"$WORK/stderr")"
echo "ok: a matrix that is not supported"

printf '[colour]\nknee = 0.2\n' >"$WORK/bad.toml"
refused 3 "knee = 0.2 is not allowed" "$WORK/pq.mkv" -c "$WORK/bad.toml" --headless -o null:

printf '[source]\nurl = "%s/pq.mkv"\n[control]\nfolder = "%s/captures"\n[colour]\nknee = 0.8\n' "$WORK" "$WORK" >"$WORK/daemon.toml"
start_daemon -c "$WORK/daemon.toml" --loop-file
[[ $(ctl get colour.knee) == 0.8 ]] || fail "the daemon's knee is $(ctl get colour.knee)"
is_grey() {
  ctl snapshot now.png && (($(pixels "$WORK/captures/now.png" | python3 "$WORK/statistics.py" | cut -d" " -f2) <= 4))
}
is_grey && fail "the picture has no colours"
ctl set colour.saturation 0 || fail "set colour.saturation"
wait_for 5 is_grey || fail "colour.saturation has no effect"
ctl load "$WORK/hlg.mkv" || fail "load"
wait_for 5 is_grey || fail "the next source loses the settings"
[[ $(field colour saturation)/$(field colour knee) == 0/0.8 ]] || fail "$(ctl get colour)"
ctl load "$WORK/pq.mkv" || fail "load"
sed -i 's/knee = 0.8/knee = 1.1\nsaturation = 0.5/' "$WORK/daemon.toml"
ctl reload || fail "reload"
reloaded() { [[ $(ctl get colour.saturation)/$(ctl get colour.knee) == 0.5/1.1 ]]; }
wait_for 5 reloaded || fail "reload: $(ctl get colour)"
ctl_refused "expected a number 0.5 to 2" set colour.knee 3
ctl_refused "saturation" set colour.saturatoin 1
ctl_refused "cannot be set" set colour 1
echo "ok: the settings of a daemon"
