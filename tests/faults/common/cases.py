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


def run_row(one, make_bench):
    """Runs a case and prints its row. Returns the result."""
    start = time.monotonic()
    with make_bench(one) as bench:
        result, observed = run_case(one, bench)
        limit = bench.deadline
    print(f"| {one.name} | {cell(one.how)} | {limit:g} s | {cell(one.expected)} | {cell(observed)} | "
          f"{time.monotonic() - start:.1f} s | {result} |", flush=True)
    return result


def run_all(cases, make_bench, second_try=None):
    """Runs the cases, prints a row for each, then the totals. Returns the names of those that failed. With `second_try`,
    cases that fail are repeated once: those that pass then count as passed, and their names are added to that file."""
    print("| case | how provoked | deadline | expected | observed | took | result |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    begin = time.monotonic()
    results = {one.name: run_row(one, make_bench) for one in cases}
    for one in [one for one in cases if second_try and results[one.name] == "FAIL"]:
        results[one.name] = run_row(one, make_bench)
        if results[one.name] != "FAIL":
            with open(second_try, "a", encoding="utf-8") as names:
                print(f"faults {one.name}", file=names)
    counts = ", ".join(f"{list(results.values()).count(result)} {result}" for result in ("pass", "FAIL", "SKIP"))
    print(f"\n{len(cases)} cases in {time.monotonic() - begin:.0f} s: {counts}")
    failed = [name for name, result in results.items() if result == "FAIL"]
    for name in failed:
        print(f"failed: {name}", file=sys.stderr)
    return failed
