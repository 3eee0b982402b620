"""Makes the helpers of the end-to-end tests importable. Import it first."""

import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.abspath(os.path.join(HERE, "..", ".."))
for folder in ("../e2e/live", "../e2e/common", "cases", "common"):
    sys.path.insert(0, os.path.join(HERE, folder))


def program():
    """The program to test unless LENSD names another one."""
    return os.path.join(ROOT, "build", "lensd")
