#!/usr/bin/env bash
# HTTP: authorization, commands as JSON, events, pictures, metrics, limits and slow clients.
# shellcheck source=../common/daemon.sh
. "$(dirname "$0")/../common/daemon.sh"
need_tools curl python3

export LENSD_CONTROL_FOLDER=$WORK/captures LENSD_HTTP_MAX_CONNECTIONS=16
port=$(free_port tcp)
start_daemon test:testsrc2=size=320x240:rate=30 --http "$port" --graph "canny@edges,invert"
url=http://127.0.0.1:$port
wait_for 10 grep -q "open http" "$WORK/daemon.err" || fail "no address in: $(<"$WORK/daemon.err")"
page=$(sed -n 's/.*open \(http[^ ]*\).*/\1/p' "$WORK/daemon.err")
token=${page##*token=}
[[ ${#token} == 32 ]] || fail "token '$token' in '$page'"

# status CODE ARGS…: calls curl with the token and expects CODE; the body is in $WORK/body.
status() {
  local wanted=$1 code
  shift
  code=$(curl -s -m 20 -o "$WORK/body" -w '%{http_code}' -H "Authorization: Bearer $token" "$@")
  [[ $code == "$wanted" ]] || fail "curl $*: $code instead of $wanted: $(head -c 300 "$WORK/body")"
}

for path in / /api/v1/get /snapshot.png /stream.mjpeg /events /metrics /schema.json; do
  code=$(curl -s -m 10 -o /dev/null -w '%{http_code}' "$url$path")
  [[ $code == 401 ]] || fail "$path without a token: $code"
done
curl -s -m 10 -D "$WORK/head" -o "$WORK/body" -H "Accept: text/html,*/*;q=0.8" "$url/"
grep -q " 401 " "$WORK/head" && grep -qi "^content-type: text/html" "$WORK/head" && grep -q "a token is needed" "$WORK/body" ||
  fail "the page without a token in a browser: $(cat "$WORK/head" "$WORK/body")"
[[ $(curl -s -m 10 "$url/") == '{"error":"a token is needed'* ]] || fail "the page without a token for a program"
[[ $(curl -s -m 10 -o /dev/null -w '%{http_code}' -H "Authorization: Bearer ${token}x" "$url/metrics") == 401 ]] || fail "a wrong token"
[[ $(curl -s -m 10 "$url/healthz") == *'"ok":true'* ]] || fail "healthz"
status 403 -H "Host: evil.example" "$url/api/v1/get"
status 403 -H "Origin: http://evil.example" "$url/api/v1/get"
status 200 -H "Origin: $url" "$url/api/v1/get"
status 404 "$url/nothing/here"
status 404 "$url/api/v1/nothing"
status 404 "$url/api/v1/get?name=nothing"
status 405 "$url/api/v1/quit"
status 413 -X POST --data-binary "@$(truncate -s 1M "$WORK/large" && echo "$WORK/large")" "$url/api/v1/set"
code=$(curl -s -m 10 -o /dev/null -w '%{http_code}' -H "X-Long: $(head -c 20000 /dev/zero | tr '\0' x)" "$url/healthz")
((code >= 400 || code == 0)) || fail "a header of 20000 bytes: $code"
cookie=$(curl -s -m 10 -D - -o /dev/null "$page" | tr -d '\r' | sed -n 's/^[Ss]et-[Cc]ookie: \([^;]*\).*HttpOnly.*SameSite=Strict.*/\1/p')
[[ $cookie == "lensd_token_${url##*:}=$token" ]] || fail "the page's cookie is '$cookie'"
[[ $(curl -s -m 10 -H "Cookie: $cookie" "$url/" | head -c 15) == "<!doctype html>" ]] || fail "no page with the cookie"
echo "ok: 401, 403, 404, 405, 413, cookie"

status 200 "$url/api/v1/get?name=edges.low" && grep -q '"data":50' "$WORK/body" || fail "get: $(<"$WORK/body")"
status 200 -d '{"edges.low": 61, "edges.high": 171}' "$url/api/v1/set"
status 200 -d '["edges.low", 62]' "$url/api/v1/set"
status 200 -d '{"command": ["get", "edges.low"]}' "$url/api/v1" && grep -q '"data":62' "$WORK/body" || fail "api: $(<"$WORK/body")"
status 422 -d '{"edges.low": 1e9}' "$url/api/v1/set"
status 400 -d '{"edges.low": ' "$url/api/v1/set"
status 400 -d '{}' "$url/api/v1/seek"
status 200 -d '{"graph": "median=radius=2,canny@edges"}' "$url/api/v1/graph-set"
status 422 -d '["median=radius=99"]' "$url/api/v1/graph-set"
status 200 -d '["b.jpg"]' "$url/api/v1/snapshot" && [[ -s $WORK/captures/b.jpg ]] || fail "snapshot"
status 422 -d '["../b.jpg"]' "$url/api/v1/snapshot"
[[ ! -e $WORK/b.jpg ]] || fail "a snapshot outside of its folder"
status 200 "$url/api/v1/filters" && python3 -c 'import json, sys; assert len(json.load(open(sys.argv[1]))) > 20' "$WORK/body" || fail "filters"
status 200 "$url/schema.json" && python3 -c '
import json, sys
schema = json.load(open(sys.argv[1])); assert schema["properties"]["node"]
try:
    import jsonschema
    jsonschema.Draft202012Validator.check_schema(schema)
    print("ok: the schema is a valid one")
except ImportError: pass' "$WORK/body" || fail "schema"
echo "ok: commands"

status 200 "$url/snapshot.png" && cp "$WORK/body" "$WORK/s.png" && expect 0 "$WORK/s.png" --headless -o null:
status 200 "$url/snapshot.jpg" && cp "$WORK/body" "$WORK/s.jpg" && expect 0 "$WORK/s.jpg" --headless -o null:
python3 - "$port" "$token" "$WORK" <<'PY' || fail "stream, events or limits"
import json, socket, sys, threading, time
port, token, work = int(sys.argv[1]), sys.argv[2], sys.argv[3]
def open_(path, head=""):
    s = socket.create_connection(("127.0.0.1", port)); s.settimeout(20)
    s.sendall(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {token}\r\n{head}\r\n".encode())
    return s, s.makefile("rb")
def head(f):
    status = f.readline(); fields = {}
    while (line := f.readline().strip()): name, _, value = line.partition(b":"); fields[name.lower()] = value.strip()
    return status, fields
# Motion JPEG: complete pictures of different frames.
s, f = open_("/stream.mjpeg")
status, fields = head(f); assert b"200" in status and b"multipart/x-mixed-replace" in fields[b"content-type"], fields
indices = []
for i in range(5):
    while not (line := f.readline()).startswith(b"--lensd-frame"): assert line, "the stream ended"
    part = {}
    while (line := f.readline().strip()): name, _, value = line.partition(b":"); part[name.lower()] = value.strip()
    picture = f.read(int(part[b"content-length"]))
    assert picture[:2] == b"\xff\xd8" and picture[-2:] == b"\xff\xd9", picture[:10]
    indices.append(int(part[b"x-lensd-frame"]))
assert indices == sorted(indices) and len(set(indices)) >= 3, indices  # on a slow machine, pictures are repeated
open(work + "/stream.jpg", "wb").write(picture); s.close()
print("ok: stream of frames", indices)
# Server-sent events.
def events(f):
    for line in f:
        if line.startswith(b"data: "): yield json.loads(line[6:])
s, f = open_("/events?observe=edges.low"); status, fields = head(f)
assert b"text/event-stream" in fields[b"content-type"], fields
feed = events(f)
assert next(e for e in feed if e["event"] == "property-change")["data"] == 50
p = socket.create_connection(("127.0.0.1", port)); body = b'{"edges.low": 77}'
p.sendall(f"POST /api/v1/set HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {token}\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body)
event = next(e for e in feed if e["event"] == "property-change"); assert event["data"] == 77 and event["frame"] > 0, event
s.close(); p.close()
print("ok: events")
# More idle connections than allowed: those above the limit get 503, and after the deadline new ones are accepted. Slow
# clients of the stream do not slow down the video.
def processed(): return socket_get("counters")["processed"]
def socket_get(name):
    c = socket.socket(socket.AF_UNIX); c.connect(work + "/control.sock")
    c.sendall(json.dumps({"command": ["get", name]}).encode() + b"\n"); return json.loads(c.makefile().readline())["data"]
silent = [socket.create_connection(("127.0.0.1", port)) for _ in range(24)]
time.sleep(0.5); before = processed(); time.sleep(1); assert processed() > before + 5
begin = time.monotonic()
while True:
    try:
        s, f = open_("/healthz"); status, _ = head(f); s.close()
        if b"200" in status: break
    except OSError: pass
    assert time.monotonic() - begin < 20; time.sleep(0.3)
for c in silent: c.close()
deaf = [open_("/stream.mjpeg")[0] for _ in range(8)]
before = processed(); time.sleep(1); assert processed() > before + 5
print("ok: silent and slow clients, room again after %.1f s" % (time.monotonic() - begin))
PY
expect 0 "$WORK/stream.jpg" --headless -o null:

status 200 "$url/metrics"
python3 - "$WORK/body" <<'PY' || fail "metrics"
import re, sys
text = open(sys.argv[1]).read(); types, helps, values, series = {}, {}, {}, set()
for line in text.splitlines():
    if line.startswith("# TYPE "): _, _, name, kind = line.split(" ", 3); assert name not in types, name; types[name] = kind
    elif line.startswith("# HELP "): _, _, name, doc = line.split(" ", 3); helps[name] = doc
    elif line:
        m = re.fullmatch(r'([a-z_]+)(\{(?:[a-z_]+="(?:[^"\\]|\\.)*",?)*\})? ([-+0-9.eEInf]+|NaN)', line); assert m, line
        name, labels, value = m.groups(); float(value)
        assert (name, labels) not in series, line; series.add((name, labels)); values[name] = float(value)
        base = re.sub(r"_(bucket|sum|count)$", "", name) if types.get(re.sub(r"_(bucket|sum|count)$", "", name)) == "histogram" else name
        assert base.startswith("lensd_") and base in types and base in helps, line
        assert types[base] != "counter" or base.endswith("_total"), line
for name in ["lensd_frames_processed_total", "lensd_frames_dropped_total", "lensd_source_reconnects_total",
             "lensd_config_reloads_total", "lensd_errors_total", "lensd_build_info", "lensd_pass_seconds_bucket"]:
    assert name in values, name
assert values["lensd_frames_processed_total"] > 30
buckets = [m for m in re.findall(r'lensd_pass_seconds_bucket\{node="median",.*?le="([^"]+)"\} (\d+)', text)]
assert buckets and buckets[-1][0] == "+Inf" and [int(b[1]) for b in buckets] == sorted(int(b[1]) for b in buckets), buckets
print("ok: %d series of %d metrics" % (len(series), len(types)))
PY

[[ $(counter dropped) == 0 ]] || fail "frames were dropped"
stop_daemon
LENSD_HTTP_AUTH=false lensd serve test:testsrc2 --socket off --http 0.0.0.0:0
[[ $CODE == 2 ]] && grep -q loopback "$WORK/stderr" || fail "all addresses without a token: $CODE $(<"$WORK/stderr")"
echo "ok: access without a token on loopback only"

token=letters.and-digits_0123==
printf '%s \nonly the first line counts\n' "$token" >"$WORK/token"
chmod 600 "$WORK/token"
export LENSD_HTTP_TOKEN_FILE=$WORK/token
start_daemon test:testsrc2=size=64x48 --http "$port"
wait_for 10 curl -s -o "$WORK/body" "$url/healthz" || fail "no HTTP with a token file: $(<"$WORK/daemon.err")"
status 200 "$url/api/v1/get"
token=another.token status 401 "$url/api/v1/get"
! grep -qF "$token" "$WORK/daemon.err" || fail "the token of the file is written to standard error"
stop_daemon
for bad in short 'with space in it' '====='; do
  printf '%s\n' "$bad" >"$WORK/token"
  refused 3 "token" serve test:testsrc2 --socket off --http "$port"
done
rm "$WORK/token"
refused 3 "token" serve test:testsrc2 --socket off --http "$port"
unset LENSD_HTTP_TOKEN_FILE
echo "ok: the token of a file"
