"""Faults that end-to-end tests provoke; ./dev test runs them too."""

import os
import subprocess

from cases import case
from senders import Skip
from test_cases import insist

E2E = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "e2e")


def script(group, path, how, expected):
    def run(bench):
        output = subprocess.run([os.path.join(E2E, path)], capture_output=True, text=True, check=False, env=dict(os.environ),
                              timeout=600, cwd=bench.work)
        lines = output.stdout.strip().splitlines() or [output.stderr.strip()[-200:]]
        if output.returncode == 77:
            raise Skip(lines[-1])
        insist(output.returncode == 0, lines[-1])
        return f"tests/e2e/{path}: {lines[-1]}"
    run.__name__ = os.path.basename(path).removesuffix(".sh")
    case(group, how, expected, deadline=10, slow=True)(run)


script("media", "commands/bad_input.sh", "damaged and foreign files, graphs and configurations", "the documented exit codes")
script("config", "serve/reload.sh", "100 reloads, half of them invalid; every way of saving; precedence", "nothing partial")
script("control", "serve/robust.sh", "storms of HUP and TERM; 80 clients with 64 descriptors; many sources", "no growth")
script("control", "serve/crowd.sh", "64 observing clients, one never reads, during a recording", "no frame lost")
script("network", "serve/http.sh", "authorization, limits, slow clients", "the documented statuses")
script("resources", "serve/record.sh", "recordings over loads, kill -9, two daemons, a full disk", "files play")
script("security", "commands/output_files.sh", "outputs that name the source or somebody's file", "refused; files unchanged")
script("security", "commands/packaging.sh", "the units' sandboxing; prerm disables every enabled unit", "exposure ≤ 2.5")
script("gpu", "viewer/click.sh", "OpenGL without CUDA interop (software renderer, virtual display)", "the viewer works")
