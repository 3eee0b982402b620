"""Named cases of a test: a function each, which tells what it measured or raises."""

import subprocess
import sys

from senders import Skip


class Failure(Exception):
    """A sentence about what is wrong."""


def insist(condition, sentence):
    if not condition:
        raise Failure(sentence)


def run(cases):
    """Runs those that the command line names, or all, and ends the test: 1 when one of them failed."""
    problems = 0
    for name in sys.argv[1:] or cases:
        try:
            print(f"{name}: {cases[name]()}", flush=True)
        except Skip as missing:
            print(f"{name} left out: {missing}")
        except (Failure, TimeoutError, ConnectionError, subprocess.SubprocessError) as problem:
            problems += 1
            print(f"FAILED: {name}: {problem}", flush=True)
    sys.exit(1 if problems else 0)
