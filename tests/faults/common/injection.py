"""The library that makes single calls fail (inject/inject.cpp)."""

import os
import re
import struct

from senders import Skip

HERE = os.path.dirname(os.path.abspath(__file__))
with open(os.path.join(HERE, "..", "inject", "functions.inc"), encoding="utf-8") as table:
    FUNCTIONS = re.findall(r"^INJECTED\w*\((\w+)", table.read(), re.MULTILINE)


class Injection:
    """The environment variables for one run, and the calls counted during the run."""

    def __init__(self, bench, what="", clock=False):
        library = os.path.join(os.path.dirname(bench.lensd), "tests", "liblensd_inject.so")
        if not os.path.exists(library):
            raise Skip(f"{os.path.basename(library)} is not built")
        self.file = bench.write("counts", bytes(8 * (len(FUNCTIONS) + 1)))
        self.environment = {"LD_PRELOAD": library, "LENSD_INJECT_COUNTS": self.file}
        if what:
            self.environment["LENSD_INJECT"] = what
        if clock:
            self.clock = self.environment["LENSD_INJECT_CLOCK"] = bench.write("clock", bytes(8))

    def counts(self):
        """The number of calls by function; under "failed" the number of injected failures."""
        with open(self.file, "rb") as file:
            return dict(zip(FUNCTIONS + ["failed"], struct.unpack(f"{len(FUNCTIONS) + 1}q", file.read())))

    def set_clock(self, seconds):
        with open(self.clock, "r+b") as file:
            file.write(struct.pack("q", seconds))
