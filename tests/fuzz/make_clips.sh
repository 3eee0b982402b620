#!/usr/bin/env bash
# Makes small clips of many codecs and containers with the ffmpeg tool: make_clips.sh FOLDER
# Skips clips that this ffmpeg cannot write.
set -euo pipefail

folder=$1
mkdir -p "$folder"

# clip NAME OPTIONS…: writes six pictures of 48×32 pixels; OPTIONS can change size and rate.
clip() {
  local name=$1
  shift
  nice ffmpeg -v quiet -nostdin -y -f lavfi -i testsrc2=size=48x32:rate=10:duration=0.6 "$@" -threads 1 "$folder/$name" \
    >/dev/null 2>&1 || rm -f "$folder/$name"
}

# sound NAME OPTIONS…: the same as clip, with an audio stream.
sound() {
  local name=$1
  shift
  nice ffmpeg -v quiet -nostdin -y -f lavfi -i testsrc2=size=48x32:rate=10:duration=0.6 \
    -f lavfi -i sine=duration=0.6 "$@" -threads 1 "$folder/$name" >/dev/null 2>&1 || rm -f "$folder/$name"
}

h264=(-c:v libx264 -preset ultrafast)
clip h264.mp4 "${h264[@]}"
clip fragments.mp4 "${h264[@]}" -g 2 -movflags frag_keyframe+empty_moov
clip rotated.mp4 "${h264[@]}" -metadata:s:v rotate=90
clip faststart.mov "${h264[@]}" -bf 2 -movflags faststart
clip h264-10.mkv -pix_fmt yuv420p10le "${h264[@]}"
clip h264-444.mkv -pix_fmt yuv444p "${h264[@]}"
clip interlaced.mkv -c:v libx264 -flags +ildct+ilme -x264opts tff=1
clip h264.h264 "${h264[@]}"
clip h264.flv "${h264[@]}"
clip h264.ts "${h264[@]}"
sound sound.ts "${h264[@]}" -c:a mp2
sound sound.mp4 "${h264[@]}" -c:a aac
sound sound.mkv "${h264[@]}" -c:a flac
clip hevc.mp4 -c:v libx265 -preset ultrafast
clip hevc.ts -c:v libx265 -preset ultrafast
clip vp8.webm -c:v libvpx -deadline realtime
clip vp9.webm -c:v libvpx-vp9 -deadline realtime -cpu-used 8
clip vp9.ivf -c:v libvpx-vp9 -deadline realtime -cpu-used 8
clip av1.mkv -s 64x64 -c:v libsvtav1 -preset 12
clip theora.ogv -c:v libtheora
clip mpeg1.mpg -c:v mpeg1video -r 25
clip mpeg2.ts -c:v mpeg2video -r 25
clip mpeg2.mpg -c:v mpeg2video -r 25
sound mpeg2.mxf -c:v mpeg2video -r 25 -c:a pcm_s16le -ar 48000
clip mpeg2.m2v -c:v mpeg2video -r 25
clip mpeg4.avi -c:v mpeg4
clip mpeg4.3gp -s 176x144 -c:v h263 -r 25
clip msmpeg4.avi -c:v msmpeg4
clip wmv2.asf -c:v wmv2
clip flv1.flv -c:v flv
clip h261.mkv -s 176x144 -c:v h261 -r 25
clip mjpeg.avi -c:v mjpeg -pix_fmt yuvj420p
clip mjpeg.mjpeg -c:v mjpeg -pix_fmt yuvj422p
clip mjpeg.mkv -c:v mjpeg -pix_fmt yuvj444p
for codec in ffv1 huffyuv ffvhuff utvideo magicyuv cinepak zlib zmbv flashsv snow asv2 rawvideo v210 r210 cljr; do
  clip "$codec.avi" -c:v "$codec"
done
for codec in qtrle prores rpza smc png dnxhd hap svq1 cfhd dvvideo v410 v308; do clip "$codec.mov" -c:v "$codec"; done
clip prores-4444.mov -c:v prores_ks -pix_fmt yuva444p10le
clip ffv1.nut -c:v ffv1 -pix_fmt gbrp10le
clip raw.y4m -c:v wrapped_avframe
clip jpeg2000.mkv -c:v jpeg2000
clip animation.gif -pix_fmt rgb8
clip animation.apng -plays 0
clip animation.webp -c:v libwebp_anim
clip roq.roq -c:v roqvideo -r 30
for image in png jpg bmp tif tga ppm pgm pbm pam pcx sgi sun xbm xwd dpx exr jp2 webp qoi hdr; do
  clip "image.$image" -frames:v 1 -update 1
done
echo "$(find "$folder" -type f | wc -l) clips made"
