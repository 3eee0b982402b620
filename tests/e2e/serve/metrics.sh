#!/usr/bin/env bash
# lensd exports every metric and label value that the shipped dashboard and alerts use, with HELP and TYPE. promtool, if
# installed, checks the alerts' expressions.
# shellcheck source=../common/daemon.sh
. "$(dirname "$0")/../common/daemon.sh"
need_tools python3 curl

config=$(cd "$(dirname "$0")/../../../config" && pwd)
export LENSD_HTTP_AUTH=false LENSD_CONTROL_FOLDER=$WORK/captures
port=$(free_port tcp)
# With a receiver, so that the stream's metrics exist.
start_daemon test:testsrc2=size=160x120:rate=30 --graph "median,invert" --http "$port" -o udp://127.0.0.1:9
wait_for 20 bash -c "(( \$('$LENSD' ctl --socket '$SOCKET' get frame) > 20 ))" || fail "no frames"
curl -s -m 10 "http://127.0.0.1:$port/metrics" >"$WORK/metrics" || fail "no metrics"
python3 - "$WORK/metrics" "$config/grafana/lensd.json" "$config/prometheus/lensd.rules.yml" <<'PY' || fail "metrics"
import json, re, sys
types, series = {}, {}
for line in open(sys.argv[1]):
    if line.startswith("# TYPE "): types[line.split()[2]] = line.split()[3]
    elif not line.startswith("#"):
        name, labels = re.match(r"(\w+)(?:\{(.*)\})? ", line).groups()
        series.setdefault(name, []).append(dict(re.findall(r'(\w+)="((?:[^"\\]|\\.)*)"', labels or "")))
def expressions(path):
    if path.endswith(".json"):
        def walk(node):
            if isinstance(node, dict):
                for key, value in node.items():
                    if key in ("expr", "query") and isinstance(value, str): yield value
                    else: yield from walk(value)
            elif isinstance(node, list):
                for value in node: yield from walk(value)
        yield from walk(json.load(open(path)))
    else:
        yield open(path).read()
named = set()
for path in sys.argv[2:]:
    for text in expressions(path):
        for name, labels in re.findall(r"\b(lensd_\w+)(?:\{([^}]*)\})?", text):
            named.add(name)
            assert name in series or types.get(name) == "histogram", f"{path}: there is no {name}"
            for label, how, value in re.findall(r'(\w+)\s*(=~|=|!=|!~)\s*"([^"]*)"', labels):
                if label in ("instance", "job") or "$" in value: continue
                assert any(label in s for s in series[name]), f"{path}: {name} has no label {label}"
                for one in value.split("|") if how == "=~" else [value]:
                    assert how[0] == "!" or any(s.get(label) == one for s in series[name]), f"{path}: {name} has no {label}={one}"
        for name in re.findall(r"(?:rate|increase)\((lensd_\w+)", text):
            base = re.sub(r"_(bucket|sum|count)$", "", name)
            assert types.get(name, types.get(base)) in ("counter", "histogram"), f"{path}: the rate of {name}, which is no counter"
assert len(named) > 10, named
print("ok: %d metrics are named, all of them are there" % len(named))
PY
reasons=$(sed -n 's/^lensd_frames_dropped_total{reason="\([a-z]*\)"}.*/\1/p' "$WORK/metrics" | tr '\n' ' ')
[[ $reasons == "source recorder stream " ]] || fail "drops by reason: $reasons"
if command -v promtool >/dev/null; then
  promtool check rules "$config/prometheus/lensd.rules.yml" >"$WORK/rules" 2>&1 || fail "$(<"$WORK/rules")"
  promtool check metrics <"$WORK/metrics" >"$WORK/lint" 2>&1 || fail "$(<"$WORK/lint")"
  echo "ok: promtool"
fi
stop_daemon
