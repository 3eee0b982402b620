#!/usr/bin/env bash
# Recording from the window: r starts and stops it; the file is playable and has the number of frames that the window shows.
# shellcheck source=../common/viewer.sh
. "$(dirname "$0")/../common/viewer.sh"

start_display
mkdir -p "$WORK/home/Videos"
HOME=$WORK/home XDG_CONFIG_HOME=$WORK/home/.config start_window test:testsrc2=size=320x240:rate=25 --backend=cpu --graph invert
recording() { [[ $(value record) == "1 "* ]] && (($(value record | cut -d' ' -f2) >= $1)); }
stopped() { [[ $(value record) == "0 "* ]]; }
wait_for 30 stopped || fail "it records without a request"
wait_for 30 place view/record || fail "the UI map has no view/record"

# recorded NAME: expects one file in the videos folder, playable to its end, with the number of frames that the window shows.
recorded() {
  wait_for 20 stopped || fail "recording did not stop"
  local counted files
  counted=$(value record | cut -d' ' -f2)
  files=("$WORK/home/Videos/"*)
  [[ ${#files[@]} == 1 && -s ${files[0]} ]] || fail "files in the videos folder: ${files[*]}"
  expect 0 "${files[0]}" --headless --backend=cpu --overwrite --framehash "$WORK/hashes" -o null:
  [[ ! -s $WORK/stderr ]] || fail "the recording is damaged: $(<"$WORK/stderr")"
  local there
  there=$(frames "$WORK/hashes" | wc -l)
  [[ $there == "$counted" ]] || fail "$1: the window counted $counted frames, the file has $there"
  if command -v ffprobe >/dev/null; then
    there=$(ffprobe -v error -count_frames -select_streams v -show_entries stream=nb_read_frames -of csv=p=0 "${files[0]}")
    [[ ${there%,} == "$counted" ]] || fail "$1: ffprobe counts $there frames, the window $counted"
  fi
  echo "ok: $1: $counted frames in ${files[0]##*/}"
  rm "${files[0]}"
}

key r
wait_for 30 recording 10 || fail "r does not record: $(value record)"
key r
recorded "by key"
sleep 1.1 # names of recordings have a resolution of one second
click view/record
wait_for 30 recording 5 || fail "the button does not record: $(value record)"
click view/record
recorded "by button"

quit_window

# The recording continues with the next source of a playlist, by key and from the command line.
need_tools ffmpeg
for name in one two; do
  ffmpeg -v error -f lavfi -i testsrc2=size=160x120:rate=10 -t 4 -c:v ffv1 "$WORK/$name.mkv" || fail "no clip was made"
done
# continued FOLDER: expects two files in the folder, of both sources, that are playable. Sets TOTAL to their frames.
continued() {
  local file files=("$1/"*)
  ((${#files[@]} == 2)) || fail "files in $1: ${files[*]}"
  TOTAL=0
  for file in "${files[@]}"; do
    expect 0 "$file" --headless --backend=cpu --overwrite --framehash "$WORK/hashes" -o null:
    TOTAL=$((TOTAL + $(frames "$WORK/hashes" | wc -l)))
  done
}
HOME=$WORK/home XDG_CONFIG_HOME=$WORK/home/.config start_window "$WORK/one.mkv" "$WORK/two.mkv" --backend=cpu
key r
wait_for 10 recording 1 || fail "r does not record: $(value record)"
expect_value source two.mkv
wait_for 10 recording 5 || fail "the recording does not continue with the next source: $(value record)"
key r
wait_for 20 stopped || fail "r does not stop the continued recording: $(value record)"
quit_window
continued "$WORK/home/Videos"
ls "$WORK/home/Videos" | grep -q '^lensd-two-' || fail "no file is named after the second source: $(ls "$WORK/home/Videos")"
((TOTAL >= 20)) || fail "the two files have only $TOTAL frames"
mkdir "$WORK/list"
start_window "$WORK/one.mkv" "$WORK/two.mkv" --backend=cpu --record "$WORK/list/rec.mkv"
expect_value source two.mkv
wait_for 20 recording 39 || fail "--record does not continue with the next source: $(value record)"
quit_window
continued "$WORK/list"
((TOTAL == 80)) || fail "--record of two clips with 40 frames each has $TOTAL frames"
rm -r "$WORK/home/Videos/"*
echo "ok: a recording continues with the next source"

start_window test:testsrc2=size=320x240:rate=25 --backend=cpu --graph invert
wait_for 30 place view/record || fail "the UI map has no view/record"
# Every frame was shown or counted as not shown.
key space
expect_value paused 1
accounted() {
  local processed shown not_shown
  read -r processed shown not_shown <<<"$(value counts)"
  ((processed == shown + not_shown))
}
wait_for 10 accounted || fail "processed, shown, not shown: $(value counts)"
echo "ok: every frame is accounted for: $(value counts)"
quit_window
