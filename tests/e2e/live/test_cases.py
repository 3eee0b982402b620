"""Named test cases: functions that return their result as text or raise."""

import subprocess
import sys

from senders import Skip


class Failure(Exception):
    """A failed check; the message describes it."""


def insist(condition, sentence):
    if not condition:
        raise Failure(sentence)


def run(cases):
    """Runs the cases named on the command line, or all, and exits with 1 if one failed, otherwise with 0."""
    problems = 0
    for name in sys.argv[1:] or cases:
        try:
            print(f"{name}: {cases[name]()}", flush=True)
        except Skip as missing:
            print(f"{name} skipped: {missing}")
        except (Failure, TimeoutError, ConnectionError, subprocess.SubprocessError) as problem:
            problems += 1
            print(f"FAILED: {name}: {problem}", flush=True)
    sys.exit(1 if problems else 0)
