"""The hostile HTTP clients of attack.py, for a short time."""

from attack import measure
from cases import case
from test_cases import insist


@case("network", "200 hostile connections for 10 s while it plays at 60 fps and records: endless headers, slow bytes, smuggling, "
      "ranges, chunked and compressed bodies, idle, half-closed, never reading",
      "0 frames lost, control p99 ≤ 50 ms, memory + 32 MiB at most, TERM within a second", slow=True)
def hostile_clients(bench):
    text, missed = measure(bench, 10, 200)
    insist(not missed, f"{missed}: {text}")
    return text
