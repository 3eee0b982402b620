#!/usr/bin/env bash
# Every pixel format of the kernel's simulated camera (vivid) is shown with the right colours or refused by name. The
# reference is the same test pattern captured by v4l2-ctl as RGB with 8 bits; for formats with subsampled chroma as YUYV,
# converted by FFmpeg. The mean difference may be up to 2/255, because some formats have fewer bits or a Bayer pattern.
# shellcheck source=../e2e/common/harness.sh
. "$(dirname "${BASH_SOURCE[0]}")/../e2e/common/harness.sh"
need_tools convert compare ffmpeg
# shellcheck source=vivid.sh
. "$(dirname "${BASH_SOURCE[0]}")/vivid.sh"
WIDTH=320 HEIGHT=180 # vivid's webcam mode
LARGEST=2            # mean difference, of 255

v4l2-ctl -d "$CAMERA" -c brightness=128,contrast=128,saturation=128,hue=0
v4l2-ctl -d "$CAMERA" -c osd_text_mode=2,test_pattern=0,horizontal_movement=3,vertical_movement=3,alpha_component=255
# capture FORMAT FILE: captures one picture without lensd.
capture() {
  v4l2-ctl -d "$CAMERA" --set-fmt-video="width=$WIDTH,height=$HEIGHT,pixelformat=$1" --stream-mmap --stream-count=1 \
    --stream-to="$2" >"$WORK/v4l2.log" 2>&1 || fail "v4l2-ctl captured nothing: $(tail -n 2 "$WORK/v4l2.log")"
}
capture RGB3 "$WORK/reference.rgb"
convert -depth 8 -size "${WIDTH}x$HEIGHT" "rgb:$WORK/reference.rgb" "$WORK/reference.png"
capture YUYV "$WORK/reference.yuyv"
ffmpeg -v error -f rawvideo -pixel_format yuyv422 -video_size "${WIDTH}x$HEIGHT" -i "$WORK/reference.yuyv" \
  -vf 'scale=in_range=limited:in_color_matrix=bt601:flags=bilinear+accurate_rnd+full_chroma_int+full_chroma_inp,format=rgb24' \
  "$WORK/subsampled.png" || fail "FFmpeg does not convert the reference"
# vivid computes its grey formats with the luma of BT.709.
convert "$WORK/reference.png" -color-matrix '0.2126 0.7152 0.0722 0.2126 0.7152 0.0722 0.2126 0.7152 0.0722' \
  "$WORK/grey.png"
# RGB with 3, 3 and 2 bits
convert "$WORK/reference.png" -channel RG -fx 'floor(u*255/32)/7' -channel B -fx 'floor(u*255/64)/3' "$WORK/332.png"

# difference REFERENCE PICTURE: prints the mean difference of 255.
difference() {
  compare -metric MAE "$1" "$2" -alpha off null: 2>&1 | sed 's/.*(\(.*\)).*/\1/' | awk '{ printf "%.2f", $1 * 255 }'
}

cat >"$WORK/camera.toml" <<TOML
[source]
url = "v4l2:$CAMERA"
size = "${WIDTH}x$HEIGHT"
TOML
v4l2-ctl -d "$CAMERA" --list-formats | sed -n "s/.*: '\([^']*\)'.*/\1/p" | tr -d ' ' >"$WORK/formats"
(($(wc -l <"$WORK/formats") > 40)) || fail "v4l2-ctl lists only $(wc -l <"$WORK/formats") formats"
shown=0 refused=0 wrong=0
while read -r format; do
  code=0
  LENSD_SOURCE_FORMAT=$format timeout 60 "$LENSD" -c "$WORK/camera.toml" --headless --frames 1 --overwrite -q \
    -o "$WORK/shown.png" </dev/null 2>"$WORK/message" || code=$?
  case $code in
    0)
      reference=$WORK/reference.png
      case $format in
        GREY | Y1[0-9]*) reference=$WORK/grey.png ;;
        RGB1) reference=$WORK/332.png ;;
        YUYV | UYVY | YVYU | 422P | YU12 | YV12 | NV12 | NV21 | NV16) reference=$WORK/subsampled.png ;;
      esac
      mean=$(difference "$reference" "$WORK/shown.png")
      verdict=ok shown=$((shown + 1))
      awk -v mean="$mean" -v largest=$LARGEST 'BEGIN { exit !(mean <= largest) }' || verdict=wrong wrong=$((wrong + 1))
      printf '%-8s mean difference %s of 255: %s\n' "$format" "$mean" "$verdict"
      ;;
    3)
      grep -qF "lensd does not read the camera's format $format " "$WORK/message" ||
        fail "$format is refused without its name: $(<"$WORK/message")"
      refused=$((refused + 1))
      printf '%-8s refused: %s\n' "$format" "$(head -n 1 "$WORK/message")"
      ;;
    *) fail "$format: exit code $code: $(<"$WORK/message")" ;;
  esac
done <"$WORK/formats"
((wrong == 0)) || fail "$wrong of $shown formats have wrong colours"
((shown > 40)) || fail "only $shown formats are shown"
echo "passed: $shown formats shown, $refused refused by name"
