#!/usr/bin/env bash
# Browsing files: a playlist with its keys and list, broken files in it, start positions, resuming, the timeline, the
# picture's menu, chapters.
# shellcheck source=../common/viewer.sh
. "$(dirname "$0")/../common/viewer.sh"
need_tools ffmpeg

clips=$WORK/clips
mkdir "$clips"
make_clip() { ffmpeg -v error -f lavfi -i "testsrc2=size=160x120:rate=5" -t "$2" -c:v ffv1 "$clips/$1" || fail "no clip was made"; }
make_clip a.mkv 1
make_clip b.mkv 1
make_clip long.mkv 70
frame_is() { (($(value frame) >= $1 && $(value frame) <= ${2:-$1})); }
at_frame() { wait_for 20 frame_is "$@" || fail "frame $(value frame) instead of $*"; }

start_display
start_window "$clips" --backend=cpu --pause
expect_value source a.mkv
place playlist/count || fail "the panel lists no sources"
key greater
expect_value source b.mkv
key less
expect_value source a.mkv
key less # no effect on the first source
click playlist/3
expect_value source long.mkv
quit_window
start_window "$clips/a.mkv" "$clips/b.mkv" --backend=cpu
expect_value source b.mkv # plays automatically after a.mkv
quit_window
echo "ok: playlist"

# Broken files are passed over, at the start and after the end of another file.
printf "no video %d\n" {1..500} >"$WORK/noise.mkv" && cp "$WORK/noise.mkv" "$WORK/noise2.mkv"
start_window "$WORK/noise.mkv" "$clips/a.mkv" "$WORK/noise2.mkv" "$clips/b.mkv" --backend=cpu
expect_value source b.mkv
for name in noise noise2; do
  wait_for 10 grep -q "$name.mkv" "$WORK/viewer.err" || fail "nothing says that $name.mkv is broken"
done
quit_window
code=0
timeout 60 "$LENSD" "$WORK/noise.mkv" "$WORK/noise2.mkv" --backend=cpu 2>"$WORK/stderr" || code=$?
[[ $code == 4 ]] || fail "a playlist of broken files gives exit code $code: $(<"$WORK/stderr")"
echo "ok: broken files in a playlist"

# The same with the keys. The list stays at the source that plays.
start_window "$clips/a.mkv" "$WORK/noise.mkv" "$clips/b.mkv" --backend=cpu --pause
key greater
expect_value source b.mkv
key less
expect_value source a.mkv
quit_window
start_window "$clips/a.mkv" "$WORK/noise.mkv" --backend=cpu --pause
key greater
wait_for 20 notice_about noise.mkv || fail "nothing says that noise.mkv is broken"
key less # no effect: a.mkv is the first source, and still the current one
wait_for 10 notice_about "This is the first source" || fail "the list is not at the source that plays"
[[ $(value source) == a.mkv ]] || fail "a broken file replaces the source"
quit_window
echo "ok: broken files in a playlist, by key"

# A raw stream has no known duration.
ffmpeg -v error -i "$clips/a.mkv" -c:v libx264 -f h264 "$WORK/raw.h264" || fail "no raw stream was made"
start_window "$WORK/raw.h264" "$clips/b.mkv" --backend=cpu
expect_value source b.mkv
quit_window
echo "ok: the playlist goes on after a stream of unknown duration"

start_window "$clips/long.mkv" --backend=cpu --pause --start 0:30
at_frame 150
quit_window
start_window "$clips/long.mkv" --backend=cpu --pause --start 50%
at_frame 175
key Home
at_frame 0
key End
at_frame 349
key Home
at_frame 0
hover transport/seek
xdotool click 4 click 4
at_frame 50
xdotool click 5
at_frame 25
wait_for 10 place transport/thumbnail || fail "the timeline shows no thumbnail"
# Until the thumbnail is decoded, its place is dark and of one colour.
decoded() {
  place transport/thumbnail || return 1
  import -silent -window "$WINDOW" -crop "${W%.*}x${H%.*}+${X%.*}+${Y%.*}" +repage "$WORK/thumbnail.png"
  [[ $(identify -format '%[fx:standard_deviation > 0.1]' "$WORK/thumbnail.png") == 1 ]]
}
wait_for 10 decoded || fail "the thumbnail shows no picture"
hover transport/seek 50
cp "$WORK/thumbnail.png" "$WORK/middle.png"
another() { decoded && ! cmp -s "$WORK/thumbnail.png" "$WORK/middle.png"; }
hover transport/seek 90
wait_for 10 another || fail "the thumbnail does not follow the pointer"
key l
wait_for 10 place transport/loop_A || fail "the first l shows no mark"
xdotool key --window "$WINDOW" --delay 1 Right Right Right # faster than the pictures
at_frame 95 105
key l
wait_for 10 place transport/loop_B || fail "the second l shows no mark"
echo "ok: Home, End, the wheel, and both marks of a loop"

ratio() { value placed | awk '{ printf "%.0f", $3 / $4 * 100 }'; }
ratio_is() { [[ $(ratio) == "$1" ]]; }
key A
wait_for 10 ratio_is 178 || fail "A shows $(ratio) instead of 16:9"
key A A A A
wait_for 10 ratio_is 133 || fail "A does not return to the source's aspect"
key M R
wait_for 10 place graph/mirror/title || fail "M does not mirror"
wait_for 10 place graph/turn/title || fail "R does not turn"
wait_for 10 ratio_is 75 || fail "turned, the ratio is $(ratio)"
key R R R M
wait_for 10 gone graph/mirror/title || fail "M does not end the mirror"
gone graph/turn/title || fail "the fourth R does not end the turn"
echo "ok: aspect, mirror, turn"

picture_menu
wait_for 10 place menu/copy_path || fail "a right click opens no menu"
[[ -z ${LENSD_SCREENSHOT:-} ]] || import -silent -window "$WINDOW" "$LENSD_SCREENSHOT"
click menu/mirror
wait_for 10 place graph/mirror/title || fail "the menu does not mirror"
echo "ok: the picture's menu"
if command -v xclip >/dev/null; then
  place picture
  xdotool mousemove --window "$WINDOW" $((${X%.*} + ${W%.*} / 2)) $((${Y%.*} + ${H%.*} / 3)) sleep 0.3 click 3
  click menu/copy_picture
  copied() { xclip -selection clipboard -t image/png -o >"$WORK/copied.png" && [[ -s $WORK/copied.png ]]; }
  wait_for 10 copied || fail "the clipboard has no picture: $(value notice)"
  size=$(identify -format "%wx%h" "$WORK/copied.png")
  wait_for 10 value_is notice "Copied the picture, ${size/x/×}" || fail "the notice is '$(value notice)', the picture $size"
  echo "ok: the picture in the clipboard, $size"
fi
if command -v xprop >/dev/null; then
  key B
  bare() { xprop -id "$WINDOW" _MOTIF_WM_HINTS | grep -q '0x0, 0x0, 0x0$\|, 0x0, 0x0, 0x0'; }
  wait_for 10 bare || fail "B leaves the border: $(xprop -id "$WINDOW" _MOTIF_WM_HINTS)"
  key T
  above() { xprop -id "$WINDOW" _NET_WM_STATE | grep -q ABOVE; }
  # Without a window manager, GLFW sets no property.
  wait_for 5 value_is on_top 1 || fail "T does not keep the window on top"
  echo "ok: no border, always on top"
fi
key l
wait_for 10 gone transport/loop_A || fail "the third l does not end the loop"
key Home
at_frame 0
key Right Right Right Right
at_frame 95 105
quit_window

start_window "$clips/long.mkv" --backend=cpu --pause
at_frame 95 105 # resumes at 20 s
value notice | grep -q Resumed || fail "nothing says that playback resumes"
quit_window
start_window "$clips/long.mkv" --backend=cpu --pause --start 0
at_frame 0
value notice | grep -q Resumed && fail "--start 0 is said to resume"
key Right
at_frame 20 30 # 5 s, for the next window
quit_window
start_window "$clips/long.mkv" --backend=cpu --pause --no-resume
at_frame 0
quit_window
start_window "$clips/long.mkv" "$clips/a.mkv" --backend=cpu --pause
at_frame 0
key Right Right Right Right
at_frame 95 105
click playlist/1
resumed() { value notice | grep -q Resumed; }
wait_for 20 resumed || fail "the current file, opened again, does not continue where it was"
key Home
quit_window
echo "ok: resumed, and not"

# The handle that is held at the right end belongs to the file in which the drag began.
for name in second third; do cp "$clips/long.mkv" "$clips/$name.mkv"; done
start_window "$clips/third.mkv" --backend=cpu --pause --start 30
at_frame 150
quit_window
start_window "$clips/long.mkv" "$clips/second.mkv" "$clips/third.mkv" --backend=cpu --no-audio --start 0
hover transport/seek 50
xdotool mousedown 1
sleep 0.5
place transport/seek
xdotool mousemove --window "$WINDOW" $((${X%.*} + ${W%.*} + 20)) $((${Y%.*} + ${H%.*} / 2))
sleep 3
[[ $(value source) == long.mkv ]] || fail "the held handle left the file for $(value source)"
xdotool mouseup 1
expect_value source second.mkv
sleep 2
[[ $(value source) == second.mkv ]] || fail "the released handle seeks in $(value source)"
quit_window
grep -q 'third.mkv", 30' "$XDG_STATE_HOME/lensd/state.toml" || fail "the position of another file is gone"
rm "$clips/second.mkv" "$clips/third.mkv"
echo "ok: a drag of the timeline belongs to its file"

# Names that are long or not UTF-8, as those of old archives.
long_name=$(printf 'n%.0s' {1..246}).mkv latin=$(printf 'caf\351.mkv')
cp "$clips/a.mkv" "$clips/$long_name"
cp "$clips/long.mkv" "$clips/$latin"
mkdir "$WORK/home"
HOME=$WORK/home start_window "$clips/$long_name" --backend=cpu --pause
at_frame 0
key r
sleep 0.5
key period r
recorded() { compgen -G "$WORK/home/lensd-nnn*.mkv"; }
wait_for 10 recorded || fail "a source with a long name is not recorded: $(value notice)"
quit_window
start_viewer "$clips/$long_name" --backend=cpu --pause --screenshot-directory "$WORK/named"
at_frame 0
key s
pictured() { compgen -G "$WORK/named/lensd-nnn*.png"; }
wait_for 10 pictured || fail "a source with a long name gives no snapshot: $(value notice)"
quit_window
start_window "$clips/$latin" --backend=cpu --pause --start 20
at_frame 100
quit_window
"$LENSD" check "$XDG_STATE_HOME/lensd/state.toml" 2>&1 | grep -qi "utf-8" && fail "the state cannot be read"
start_window "$clips/$latin" --backend=cpu --pause
at_frame 100
quit_window
rm "$clips/$long_name" "$clips/$latin"
echo "ok: long names, and names that are not UTF-8"

# The position at the end counts, also if the window is hidden.
start_window "$clips/long.mkv" --backend=cpu --no-audio --start 20 --speed=4
xdotool windowunmap "$WINDOW"
sleep 4
kill -INT "$VIEWER"
wait "$VIEWER" || fail "INT ended the hidden window with $?: $(tail -n 5 "$WORK/viewer.err")"
seconds=$(grep -A3 '^positions' "$XDG_STATE_HOME/lensd/state.toml" | sed -n 's/.*long.mkv", \([0-9]*\).*/\1/p')
((${seconds:-0} >= 28)) || fail "the hidden window stored ${seconds:-no} s instead of about 36 s"
echo "ok: a hidden window stores its position, $seconds s"

printf ';FFMETADATA1\n[CHAPTER]\nTIMEBASE=1/1\nSTART=%s\nEND=%s\ntitle=%s\n' 0 10 First >"$WORK/chapters"
printf '[CHAPTER]\nTIMEBASE=1/1\nSTART=%s\nEND=%s\ntitle=%s\n' 10 30 "Second part" 30 70 Last >>"$WORK/chapters"
ffmpeg -v error -i "$clips/long.mkv" -i "$WORK/chapters" -map_metadata 1 -c copy "$WORK/chapters.mkv" || fail "no clip with chapters"
start_window "$WORK/chapters.mkv" --backend=cpu --pause
at_frame 0
key Prior
at_frame 50
value notice | grep -q "Chapter 2 of 3: Second part" || fail "the message is: $(value notice)"
key Prior
at_frame 150
key Next
at_frame 50
hover transport/seek
wait_for 10 place transport/chapter || fail "the timeline names no chapter"
[[ -z ${LENSD_SCREENSHOT_CHAPTERS:-} ]] || import -silent -window "$WINDOW" "$LENSD_SCREENSHOT_CHAPTERS"
quit_window
echo "ok: chapters"
