#!/usr/bin/env bash
# The shown colours of HDR clips agree with BT.2100 and BT.2390 in double precision. SDR pictures in PQ keep their
# colours. With LENSD_CLIPS=FOLDER, also a picture of each clip of that folder, encoded in HDR.
# shellcheck source=../common/harness.sh
. "$(dirname "$0")/../common/harness.sh"
# shellcheck source=../common/hdr.sh
. "$(dirname "$0")/../common/hdr.sh"
need_tools ffmpeg python3

width=96 height=54
ffmpeg -v error -h encoder=libx265 2>&1 | grep -q "^Encoder" && x265=1 || x265=

colourful "$WORK/generated.png" $width $height
pictures=(generated)
# smooth PICTURE: prints the name of a blurred copy, which loses little by chroma subsampling.
smooth() {
  [[ -s $WORK/$1-smooth.png ]] ||
    ffmpeg -v error -i "$WORK/$1.png" -vf gblur=sigma=5 -pix_fmt rgb24 "$WORK/$1-smooth.png" </dev/null
  echo "$1-smooth"
}
if [[ -n ${LENSD_CLIPS:-} ]]; then
  for clip in "$LENSD_CLIPS"/*; do
    name=$(basename "$clip")
    ffmpeg -v quiet -ss 1 -i "$clip" -frames:v 1 -vf "scale=$width:$height:flags=area" -pix_fmt rgb24 \
      "$WORK/$name.png" </dev/null && pictures+=("$name")
  done
fi

# encoded PICTURE TRANSFER LIGHT FORMAT [MAXCLL SITING]: writes $WORK/clip.mkv and its samples to $WORK/coded. With MAXCLL,
# the clip is HEVC, which stores it.
encoded() {
  local picture=$1 transfer=$2 light=$3 format=$4 peak=${5:-} siting=${6:-left} tag=smpte2084 encoder=(ffv1)
  [[ $transfer == pq ]] || tag=arib-std-b67
  local tags=color_trc=$tag:color_primaries=bt2020
  [[ $format == gbrp* ]] || tags+=:colorspace=bt2020nc:range=limited
  if [[ -n $peak ]]; then
    local settings=lossless=1:log-level=error:max-cll=$peak,50:transfer=$tag:colorprim=bt2020
    [[ $format == gbrp* ]] || settings+=:colormatrix=bt2020nc
    [[ $siting == left ]] || settings+=:chromaloc=2
    encoder=(libx265 -preset ultrafast -x265-params "$settings")
  fi
  raw "$WORK/$picture.png" rgb24 | hdr encode "$transfer" "$light" "$format" $width "$siting" >"$WORK/coded" ||
    fail "cannot encode $picture"
  ffmpeg -v error -nostdin -y -f rawvideo -pix_fmt "$format" -video_size ${width}x$height -i "$WORK/coded" \
    -vf "setparams=$tags" -c:v "${encoder[@]}" "$WORK/clip.mkv" || fail "ffmpeg cannot write $format with $transfer"
  cmp -s <(raw "$WORK/clip.mkv" "$format") "$WORK/coded" || fail "the encoder changed the samples of $format"
}
# shown ARGS…: writes the clip's picture as the program shows it to $WORK/shown.
shown() {
  expect 0 "$WORK/clip.mkv" --headless --frames 1 --overwrite -o "$WORK/shown.png" "$@"
  deep "$WORK/shown.png" >"$WORK/shown"
}

# An SDR picture in PQ with white at 203 cd/m² keeps its colours.
for original in "${pictures[@]}"; do
  for format in gbrp12le yuv420p10le; do
    [[ -n $x265 ]] || break
    picture=$original
    [[ $format != yuv420* ]] || picture=$(smooth "$original")
    encoded "$picture" pq white $format 203
    deep "$WORK/$picture.png" >"$WORK/original"
    for precision in 8 16; do
      shown --precision $precision
      mean=$(hdr mean "$WORK/original" "$WORK/shown") || fail "$picture, $format: $mean"
      echo "$picture, SDR in PQ, $format, $precision bits: mean difference $mean/255"
      awk -v mean="$mean" 'BEGIN { exit !(mean <= 1) }' || fail "this is more than 1/255"
    done
  done
done

# Transfer, cd/m² of the brightest parts, format, MaxCLL (none: the default of 1000), siting.
clip_cases="pq 1000 gbrp12le
hlg 1000 yuv422p10le"
[[ -z $x265 ]] || clip_cases+="
pq 4000 yuv420p10le 4000 topleft
pq 600 yuv420p10le 600 left"
for picture in "${pictures[@]}"; do
  while read -r transfer light format peak siting; do
    encoded "$picture" "$transfer" "$light" "$format" "$peak" "${siting:-left}"
    # With 8 bits, rounding causes nearly all of the difference.
    for limits in "8 0.3 1" "16 0.01 0.05"; do
      read -r precision mean p99 <<<"$limits"
      shown --precision "$precision"
      result=$(hdr compare "$format $width $height ${siting:-left} $transfer ${peak:-1000} $WORK/coded" "$WORK/shown" \
        "$mean" "$p99") || fail "$picture, $transfer, $light cd/m², $format, $precision bits: $result"
      echo "$picture, $transfer, $light cd/m², $format, $precision bits: $result"
    done
  done <<<"$clip_cases"
done
[[ -n $x265 ]] || echo "not tested without libx265: MaxCLL"
echo "ok: tone mapping"
