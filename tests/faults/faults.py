#!/usr/bin/env python3
"""Provokes faults in lensd and prints one row of a table for each: faults.py [OPTIONS] [NAME…]

NAME is a case (media.empty), a group (media) or a part of a name. --quick runs the cases below two seconds. Exit code
1 if a case failed. LENSD is the program, by default build/lensd. --patience N multiplies every deadline, for a busy machine.
--second-try FILE repeats cases that fail once, and adds the names of those that pass then to the file.
"""

import argparse
import os
import sys

import paths

os.environ["LENSD"] = os.path.abspath(os.environ.get("LENSD", paths.program()))  # the cases change the folder
os.environ.setdefault("LENSD_E2E_SOURCE_PROBE", os.path.join(os.path.dirname(os.environ["LENSD"]), "tests",
                                                             "lensd_source_probe"))

from bench import Bench  # noqa: E402
from cases import CASES, run_all  # noqa: E402

for module in sorted(os.listdir(os.path.join(paths.HERE, "cases"))):
    if module.endswith(".py"):
        __import__(module.removesuffix(".py"))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--patience", type=float, default=1.0)
    parser.add_argument("--second-try", metavar="FILE")
    parser.add_argument("names", nargs="*", metavar="NAME")
    options = parser.parse_args()
    chosen = [one for one in CASES if not options.names or any(name in one.name for name in options.names)]
    if options.quick:
        chosen = [one for one in chosen if not one.slow]
    if not chosen:
        sys.exit(f"faults: no case is named {' or '.join(options.names)}")
    if options.list:
        print("\n".join(one.name + (" (slow)" if one.slow else "") for one in chosen))
        return
    failed = run_all(chosen, lambda one: Bench(one.deadline, options.patience), options.second_try)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
