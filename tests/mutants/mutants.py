#!/usr/bin/env python3
"""Measures the tests: changes one place of the program at a time and checks that a test fails.

  sites.py ── places of core kernels app ui ──▶ N mutants, drawn with a seed
      ──▶ a worktree in build-mutants: change, build, run the tests of the folder, change back
      ──▶ killed (a test failed or hung), survived (the diff is printed)

Not counted are mutants that do not compile, and those that change no byte of the test programs and of lensd. Headers
that many files include are left out. CUDA sources are drawn only with --cuda, because their tests need a GPU.
"""

import argparse
import difflib
import hashlib
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

from areas import area_of, quick_filter
from sites import sites

ROOT = Path(__file__).resolve().parents[2]
WORK = ROOT / "build-mutants"
TREE = WORK / "tree"
BUILD = TREE / "build"
FOLDERS = ["core", "kernels", "app", "ui"]
BUILD_SECONDS = 3600
LEFT_OUT = "-*_1920x1080:*_641x239"  # tests of large pictures; they run only for the changed filter
MANY = 40  # headers that more files include would need long builds


def run(command, seconds, **options):
    """Runs a command in its own process group. Returns its exit status (None: timeout) and its output."""
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
                          start_new_session=True, **options) as process:
        try:
            output, _ = process.communicate(timeout=seconds)
            status = process.returncode
        except subprocess.TimeoutExpired:
            output, status = b"", None
        try:  # also ends processes that a crashed test left running
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
    return status, output.decode(errors="replace")


def must(command, **options):
    status, output = run(command, 3600, **options)
    if status != 0:
        sys.exit(f"mutants: failed: {' '.join(map(str, command))}\n{output[-3000:]}")
    return output


def prepare_tree():
    """Checks out the commit of the working tree to TREE and configures a separate build."""
    head = must(["git", "-C", ROOT, "rev-parse", "HEAD"]).strip()
    if (TREE / ".git").exists():
        must(["git", "-C", TREE, "checkout", "-q", "--detach", "-f", head])
    else:
        must(["git", "-C", ROOT, "worktree", "prune"])
        must(["git", "-C", ROOT, "worktree", "add", "-q", "--detach", TREE, head])
    # With ccache, use the usual options, so that most files come from its cache.
    level = [] if shutil.which("ccache") else ["-DCMAKE_CXX_FLAGS_RELEASE=-O1", "-DLENSD_PRECOMPILE=OFF"]
    cuda = [f"-D{name}={os.environ[name]}" for name in ("LENSD_CUDA", "LENSD_CUDA_ARCHS") if name in os.environ]
    must(["cmake", "--preset", "release", "-DLENSD_TESTS=ON", "-DLENSD_UNITY_TESTS=ON", *cuda, *level], cwd=TREE)
    return head


def widely_included():
    """Returns the project's headers that more than MANY files include."""
    counts = {}
    for line in must(["ninja", "-C", BUILD, "-t", "deps"]).splitlines():
        path = Path(os.path.normpath(BUILD / line.strip())) if line.startswith("    ") else None
        if path and path.suffix == ".hpp" and TREE in path.parents:
            name = str(path.relative_to(TREE))
            counts[name] = counts.get(name, 0) + 1
    return {name for name, count in counts.items() if count > MANY}


class Programs:
    """The built programs and their time limits."""

    def __init__(self):
        self.limits = {}
        self.environment = {**os.environ, "LENSD_SEED": "1", "LENSD_DRAWS": "2"}
        for name in ("LENSD_CUDA", "LENSD_CUDA_ARCHS"):  # options of this build, not of those that tests make
            self.environment.pop(name, None)
        self.display = []
        if not os.environ.get("DISPLAY"):
            self.environment.pop("WAYLAND_DISPLAY", None)
            if shutil.which("xvfb-run"):
                self.display = ["xvfb-run", "-a", "-s", "-screen 0 1600x900x24 -noreset"]

    @staticmethod
    def target(name):
        return f"lensd_{name}_tests"

    def path(self, name):
        return BUILD / "tests" / self.target(name)

    def build(self, *targets):
        return run(["nice", "ninja", "-C", BUILD, *targets], BUILD_SECONDS)

    def state(self, file):
        return hashlib.sha256(file.read_bytes()).digest()

    def problem(self, key, command):
        """Returns None if the command succeeds in time, otherwise the problem. The first run for a key sets the
        limit: 30 s more than three times its duration."""
        start = time.monotonic()
        status, output = run(self.display + command, self.limits.get(key, 1800), env=self.environment, cwd=BUILD / "tests")
        self.limits.setdefault(key, 30 + 3 * (time.monotonic() - start))
        if status == 0:
            return None
        if status is None:
            return f"{key} hangs"
        failed = re.findall(r"\[  FAILED  \] ([\w./]+)", output) or re.findall(r"- (e2e[\w.]+)", output)
        return f"{key}: {failed[0] if failed else f'exit status {status}'}"

    def program(self, name, chosen=""):
        chosen = chosen or LEFT_OUT
        command = [str(self.path(name)), "--gtest_brief=1", "--gtest_fail_fast", f"--gtest_filter={chosen}"]
        # A failure must repeat: on a busy machine, a test can fail that the mutant does not affect.
        return self.problem(f"{name} {chosen}", command) and self.problem(f"{name} {chosen}", command)

    def e2e(self, pattern):
        """End-to-end tests have deadlines, which they can miss on a busy machine: a failure must repeat."""
        command = ["ctest", "--test-dir", str(BUILD), "--stop-on-failure"]
        return self.problem(pattern, [*command, "-R", pattern]) and self.problem(f"{pattern} again",
                                                                                   [*command, "--rerun-failed"])


def is_cuda(name):
    base = name.rsplit("/", 1)[-1]
    return base.endswith((".cu", ".cuh", "_cuda.cpp")) or base.startswith("cuda_")


def drawn(generator, folder, cuda, left_out):
    """Yields mutants (path, line, site) in random order, each line with the same chance."""
    pattern = [f"{f}/*.{ending}" for f in FOLDERS for ending in ("cpp", "hpp", "cu", "cuh")]
    files = must(["git", "-C", TREE, "ls-files", "--", *pattern]).split()
    lines = []
    for name in files:
        if not name.startswith(folder) or is_cuda(name) != cuda or name in left_out:
            continue
        for number, found in sites((TREE / name).read_text()):
            lines.append((name, number, found))
    generator.shuffle(lines)
    for name, number, found in lines:
        yield name, number, generator.choice(found)


def changed(text, site):
    return text[:site.begin] + site.new + text[site.end:]


def difference(before, after):
    lines = difflib.unified_diff(before.split("\n"), after.split("\n"), n=0, lineterm="")
    return [f"    {line[0]} {line[1:].strip()}" for line in lines if not line.startswith(("---", "+++", "@@"))]


class Run:
    def __init__(self, with_e2e):
        self.programs = Programs()
        self.with_e2e = with_e2e
        self.states = {}  # target: state of its file without a change
        self.checked = set()  # names of the steps that pass without a change
        self.counts = dict.fromkeys(["killed", "survived", "does not compile",
                                     "changes nothing" if with_e2e else "is in no test program"], 0)
        self.survivors = []

    def steps(self, path):
        """Yields (name, target, file, run the tests) for a path, the likely and quick ones first."""
        area, programs = area_of(path), self.programs
        chosen = quick_filter(path)
        if chosen:
            yield chosen, programs.target("filter"), programs.path("filter"), lambda: programs.program("filter", chosen)
        for name in area.programs:
            yield name, programs.target(name), programs.path(name), lambda name=name: programs.program(name)
        if self.with_e2e and area.e2e:
            yield area.e2e, "lensd", BUILD / "lensd", lambda: programs.e2e(area.e2e)

    def check_unchanged(self, path):
        """The tests must pass without a change before they can judge mutants."""
        for name, target, file, tests in self.steps(path):
            if name in self.checked:
                continue
            status, output = self.programs.build(target)
            if status != 0:
                sys.exit(f"mutants: cannot build {target}\n{output[-3000:]}")
            self.states[target] = self.programs.state(file)
            self.checked.add(name)
            if found := tests():
                sys.exit(f"mutants: without a change: {found}")

    def tested(self, path):
        """Builds and runs the tests of a changed file. Returns (result, what found it)."""
        affected = False
        for _, target, file, tests in self.steps(path):
            status, output = self.programs.build(target)
            if status is None:
                sys.exit("mutants: the build hangs")
            if status != 0:
                if "error:" not in output and "undefined reference" not in output:
                    sys.exit(f"mutants: the build fails\n{output[-3000:]}")
                return "does not compile", ""
            if self.programs.state(file) == self.states[target]:
                continue
            affected = True
            if found := tests():
                return "killed", found
        if affected:
            return "survived", ""
        return ("changes nothing" if self.with_e2e else "is in no test program"), ""

    def judge(self, path, site):
        """Applies one mutant, tests it and restores the file."""
        self.check_unchanged(path)
        file = TREE / path
        text = file.read_text()
        file.write_text(changed(text, site))
        try:
            return self.tested(path)
        finally:
            file.write_text(text)

    def one(self, path, number, site):
        before = (TREE / path).read_text()
        start = time.monotonic()
        result, found = self.judge(path, site)
        self.counts[result] += 1
        lines = [f"{result}: {path}:{number} ({site.what}, {time.monotonic() - start:.0f} s) {found}".rstrip(),
                 *difference(before, changed(before, site))]
        print("\n".join(lines), flush=True)
        if result == "survived":
            self.survivors.append("\n".join(lines))


def main():
    parser = argparse.ArgumentParser(prog="./dev mutants", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("count", nargs="?", type=int, default=60, help="mutants to judge (60)")
    parser.add_argument("--seed", type=int, default=None, help="repeats a run")
    parser.add_argument("--folder", default="", help="only files whose path begins with this, for example kernels/klt/")
    parser.add_argument("--cuda", action="store_true", help="only CUDA sources; needs a GPU")
    parser.add_argument("--no-e2e", action="store_true", help="run only the GoogleTest programs")
    parser.add_argument("--list", action="store_true", help="print the drawn mutants without building them")
    options = parser.parse_args()
    if options.cuda and not options.list and not Path("/dev/nvidiactl").exists():
        sys.exit("mutants: without a GPU no test can judge CUDA sources")
    seed = options.seed if options.seed is not None else random.SystemRandom().randrange(10**6)
    head = prepare_tree()
    print(f"seed {seed}, commit {head[:12]}, {'only' if options.cuda else 'without'} CUDA sources", flush=True)
    left_out = set()
    if not options.list:
        # All targets: end-to-end tests also need helpers. Ninja knows the included headers only after a build.
        status, output = Programs().build("all" if not options.no_e2e else "lensd")
        if status != 0:
            sys.exit(f"mutants: the build fails\n{output[-3000:]}")
        left_out = widely_included()
        print(f"{len(left_out)} headers are left out, more than {MANY} files include each", flush=True)
    mutants = drawn(random.Random(seed), options.folder, options.cuda, left_out)
    if options.list:
        for _, (path, number, site) in zip(range(options.count), mutants):
            text = (TREE / path).read_text()
            print("\n".join([f"{path}:{number} ({site.what})", *difference(text, changed(text, site))]))
        return
    judged = Run(not options.no_e2e)
    for path, number, site in mutants:
        judged.one(path, number, site)
        if judged.counts["killed"] + judged.counts["survived"] >= options.count:
            break
    print("\n" + ", ".join(f"{count} {result}" for result, count in judged.counts.items()))
    if judged.survivors:
        print("survivors:\n" + "\n".join(judged.survivors))


if __name__ == "__main__":
    main()
