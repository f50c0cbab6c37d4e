#!/usr/bin/env bash
# Starts the built program under Xvfb, drives it with keys and mouse, and checks the screen and the clean exit.
#
#   tests/window.sh PROGRAM [EXPORT...]      without an export: the demo
#
# Needs Xvfb, xdotool and ImageMagick. SHOTS=folder keeps the screenshots; SIZE=1280x720 sets the screen.
set -euo pipefail

program=$(realpath "$1")
shift
size=${SIZE:-1280x720}
work=$(mktemp -d)
shots=${SHOTS:-$work}
mkdir -p "$shots"
server='' app=''

fail() {
    echo "window test failed: $1" >&2
    sed 's/^/  stderr: /' "$work/stderr" >&2 2>/dev/null || true
    exit 1
}

cleanup() {
    if [ -n "$app" ] && kill -0 "$app" 2>/dev/null; then kill "$app"; fi
    if [ -n "$server" ] && kill -0 "$server" 2>/dev/null; then
        kill "$server"
        # Until it has gone, its number looks free and is not.
        wait "$server" 2>/dev/null || true
    fi
    rm -rf "$work"
}
trap cleanup EXIT

# Xvfb picks a free display itself and says which. Without -noreset it starts over whenever its last client leaves, as
# xdotool below does, and a program that connects at that moment finds no display.
exec 3<>"$work/display"
Xvfb -displayfd 3 -screen 0 "${size}x24" -nolisten tcp -noreset 2>"$work/xvfb" &
server=$!
for _ in $(seq 100); do
    display=$(head -n 1 "$work/display")
    [ -n "$display" ] && break
    sleep 0.1
done
[ -n "${display:-}" ] || fail "Xvfb did not start: $(cat "$work/xvfb")"
export DISPLAY=":$display" LIBGL_ALWAYS_SOFTWARE=1
# Settings of the user are neither read nor written.
export XDG_DATA_HOME="$work/data" XDG_CONFIG_HOME="$work/config" XDG_RUNTIME_DIR="$work"
# What an earlier run left may be damaged; the program starts with sane values all the same.
mkdir -p "$XDG_DATA_HOME/stepscope"
cat >"$XDG_DATA_HOME/stepscope/app.ron" <<'END'
{"egui":"(options:(zoom_factor:0.0))","window":"(inner_size_points:Some((x:1.0,y:1.0)),inner_position_pixels:Some((x:-9999.0,y:-9999.0)))"}
END
echo '{"window_width_pt":1,"window_height_pt":-4,"scale_percent":0}' >"$XDG_DATA_HOME/stepscope/settings.json"
unset WAYLAND_DISPLAY WAYLAND_SOCKET
for _ in $(seq 50); do
    xdotool getdisplaygeometry >/dev/null 2>&1 && break
    sleep 0.1
done
xdotool getdisplaygeometry >/dev/null || fail "display $DISPLAY does not answer"

"$program" "$@" 2>"$work/stderr" &
app=$!
window=''
for _ in $(seq 200); do
    window=$(xdotool search --onlyvisible --name '^stepscope' 2>/dev/null | head -n 1 || true)
    [ -n "$window" ] && break
    kill -0 "$app" 2>/dev/null || fail "the program ended before it showed a window"
    sleep 0.1
done
[ -n "$window" ] || fail "no window appeared within 20 seconds"

# Picture of the window, and how many colours it holds.
colours() {
    import -window "$window" "$shots/$1.png"
    identify -format %k "$shots/$1.png"
}

# Waits for a picture with more colours than text on a background has.
drawn() {
    local found=0
    for _ in $(seq 100); do
        found=$(colours "$1")
        if [ "$found" -gt "$2" ]; then
            echo "$1: $found colours"
            return
        fi
        kill -0 "$app" 2>/dev/null || fail "the program ended while it drew $1"
        sleep 0.2
    done
    fail "$1 shows only $found colours"
}

alive() { kill -0 "$app" 2>/dev/null || fail "the program ended after: $1"; }

changed() {
    if cmp -s "$shots/$1.png" "$shots/$2.png"; then fail "$2 looks exactly like $1"; fi
}

width=${size%x*} height=${size#*x}
xdotool windowsize --sync "$window" "$width" "$height" || true
xdotool windowmove "$window" 0 0
xdotool windowfocus "$window" 2>/dev/null || true
drawn open 200

key() {
    xdotool key --clearmodifiers "$1"
    sleep 0.15
    alive "key $1"
}

for name in w w d; do key "$name"; done
drawn zoomed 200
changed open zoomed
for name in s m n m n 0 bracketright Home; do key "$name"; done
key question
drawn help 200
key Escape
key 0

# Wheel at the pointer, a drag over the lanes, a click on something, its details.
middle_x=$((width / 3)) middle_y=$((height / 2))
xdotool mousemove "$middle_x" "$middle_y"
for _ in 1 2 3 4; do xdotool click 4; done
sleep 0.2
alive "wheel"
xdotool mousemove "$middle_x" "$middle_y" mousedown 1
xdotool mousemove_relative -- -120 0 mousemove_relative -- -60 4
xdotool mouseup 1
sleep 0.2
alive "drag"
for part in 5 4 3 2; do
    xdotool mousemove "$middle_x" $((height / part)) click 1
    sleep 0.1
    alive "click at 1/$part of the height"
done
drawn dragged 200
xdotool click --repeat 2 --delay 60 1
sleep 0.2
alive "double click"
key Escape

xdotool windowsize "$window" $((width * 3 / 4)) $((height * 3 / 4))
sleep 0.4
drawn small 100
xdotool windowsize "$window" "$width" "$height"
sleep 0.4
drawn large 200

xdotool key --clearmodifiers ctrl+q
for _ in $(seq 50); do
    kill -0 "$app" 2>/dev/null || break
    sleep 0.1
done
if kill -0 "$app" 2>/dev/null; then fail "Ctrl+Q did not end the program within 5 seconds"; fi
code=0
wait "$app" || code=$?
app=''
[ "$code" = 0 ] || fail "the program ended with code $code"
if grep -q 'panicked' "$work/stderr"; then fail "the program panicked"; fi
grep -q '"scale_percent":100' "$XDG_DATA_HOME/stepscope/settings.json" || fail "the settings were not written in order"
echo "window test passed"
