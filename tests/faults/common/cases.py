"""The list of fault cases, and the table of their results.

A case is a function that takes a Bench, provokes one fault, and returns what it observed. It raises Failure if lensd
did not behave as expected, or Skip with the reason if the fault cannot be provoked on this machine.
"""

import sys
import time

from senders import Skip

CASES = []


class Case:
    def __init__(self, group, how, deadline, expected, slow, function):
        self.name = f"{group}.{function.__name__}"
        self.how, self.deadline, self.expected, self.slow, self.function = how, deadline, expected, slow, function


def case(group, how, expected, deadline=2.0, slow=False):
    """Registers a function. `deadline` is the limit in seconds for each step that the case waits for. Slow cases take
    more than two seconds; --quick leaves them out."""
    def register(function):
        CASES.append(Case(group, how, deadline, expected, slow, function))
        return function
    return register


def cell(text):
    """Text for one cell of a Markdown table, on one line of at most 300 characters."""
    text = " ".join(str(text).replace("|", "\\|").split())
    return text if len(text) <= 300 else text[:297] + "..."


def run_case(one, bench):
    """Returns ("pass", "FAIL" or "SKIP", what was observed)."""
    try:
        return "pass", one.function(bench) or one.expected
    except Skip as reason:
        return "SKIP", reason
    except Exception as problem:  # report it in the row and continue with the next case
        return "FAIL", f"{type(problem).__name__}: {problem}"


def run_all(cases, make_bench):
    """Runs the cases, prints a row for each, then the totals. Returns the names of those that failed."""
    results = {"pass": [], "FAIL": [], "SKIP": []}
    print("| case | how provoked | deadline | expected | observed | took | result |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    begin = time.monotonic()
    for one in cases:
        start = time.monotonic()
        with make_bench(one) as bench:
            result, observed = run_case(one, bench)
            limit = bench.deadline
        results[result].append(one.name)
        took = time.monotonic() - start
        print(f"| {one.name} | {cell(one.how)} | {limit:g} s | {cell(one.expected)} | {cell(observed)} | {took:.1f} s "
              f"| {result} |", flush=True)
    counts = ", ".join(f"{len(names)} {result}" for result, names in results.items())
    print(f"\n{len(cases)} cases in {time.monotonic() - begin:.0f} s: {counts}")
    for name in results["FAIL"]:
        print(f"failed: {name}", file=sys.stderr)
    return results["FAIL"]
