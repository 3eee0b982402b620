#!/usr/bin/env python3
"""Checks the registers and shared memory of each CUDA kernel against the limits of each GPU architecture.

usage: kernel_resources.py BUILD [--table FILE]    BUILD has the compiler's reports, *.cu.o.ptxas (cmake/keep_ptxas_output)

A kernel with __launch_bounds__ gets few enough registers for its blocks from the compiler. A kernel without may be
launched with up to 1024 threads, so it may have 64 registers at most. Static shared memory must fit in 48 KiB, which
needs no request. Sizes of dynamic shared memory are checked where they are computed, with static_assert. Local memory
is listed: spilled registers cost time, but run everywhere.

Exit code 77 (skipped): no reports, because the build has no machine code for a GPU.
"""
import argparse
import collections
import json
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
# Per multiprocessor, from the CUDA C++ Programming Guide, table "Technical Specifications per Compute Capability":
# threads, blocks, shared memory in KiB. All have 65536 registers, and at most 1024 threads in a block.
LIMITS = {75: (1024, 16, 64), 80: (2048, 32, 164), 86: (1536, 16, 100), 87: (1536, 16, 164), 89: (1536, 24, 100),
          90: (2048, 32, 228), 100: (2048, 32, 228), 103: (2048, 32, 228), 110: (1536, 24, 228), 120: (1536, 24, 100),
          121: (1536, 24, 100)}
REGISTERS, UNBOUNDED_THREADS, PLAIN_SHARED = 65536, 1024, 48 * 1024

Use = collections.namedtuple("Use", "registers shared local")


def reports(build):
    """Returns {(kernel, architecture): Use} of the reports of all files that the build compiles."""
    uses = {}
    for command in json.loads((build / "compile_commands.json").read_text()):
        output = command.get("output") or command["command"].split(" -o ")[-1].split()[0]  # "output": from CMake 3.26 on
        path = pathlib.Path(command["directory"], output + ".ptxas")
        if not output.endswith(".cu.o") or not path.is_file():
            continue
        entry = None
        for line in path.read_text().splitlines():
            if found := re.search(r"Compiling entry function '(\w+)' for 'sm_(\d+)'", line):
                entry, local = (found[1], int(found[2])), 0
            elif found := re.search(r"(\d+) bytes stack frame", line):
                local = int(found[1])
            elif entry and (found := re.search(r"Used (\d+) registers", line)):
                shared = re.search(r"(\d+) bytes smem", line)
                uses[entry] = Use(int(found[1]), int(shared[1]) if shared else 0, local)
                entry = None
    return uses


def readable(symbols):
    """Returns {mangled: kernel name with its template arguments}."""
    text = subprocess.run(["c++filt"], input="\n".join(symbols), capture_output=True, text=True, check=True).stdout
    names = {}
    for symbol, name in zip(symbols, text.splitlines()):
        name = name.replace("lensd::", "").replace("(anonymous namespace)::", "")
        names[symbol] = re.sub(r"^void ", "", name).rsplit(">(" if ">(" in name else "(", 1)[0] + (">" if ">(" in name else "")
    return names


def bounded_kernels():
    """Returns the names of the kernels that are declared with __launch_bounds__, and of all kernels."""
    bounded, all_names = set(), set()
    for path in [*ROOT.glob("kernels/**/*.cu"), *ROOT.glob("kernels/**/*.cuh")]:
        for found in re.finditer(r"__global__\s+void\s+((?:__launch_bounds__\s*\((?:[^()]|\([^()]*\))*\)\s*)?)(\w+)\s*\(",
                                 re.sub(r"//.*", "", path.read_text())):
            all_names.add(found[2])
            if found[1]:
                bounded.add(found[2])
        for found in re.finditer(r"__global__\s+(__launch_bounds__\s*\((?:[^()]|\([^()]*\))*\))\s*void\s+(\w+)\s*\(",
                                 re.sub(r"//.*", "", path.read_text())):
            all_names.add(found[2])
            bounded.add(found[2])
    return bounded, all_names


def problems(name, arch, use, bounded):
    """Yields what does not fit the architecture."""
    if arch not in LIMITS:
        yield f"the limits of sm_{arch} are not known to this test"
    if use.shared > PLAIN_SHARED:
        yield f"{use.shared} bytes of static shared memory, {PLAIN_SHARED} fit"
    if not bounded and use.registers > REGISTERS // UNBOUNDED_THREADS:
        yield f"{use.registers} registers without __launch_bounds__, {REGISTERS // UNBOUNDED_THREADS} fit"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--table", type=pathlib.Path, help="write the table to this file")
    options = parser.parse_args()
    uses = reports(options.build)
    if not uses:
        print("no reports of ptxas: the build has no machine code for a GPU")
        return 77
    names = readable(sorted({symbol for symbol, _ in uses}))
    bounded, declared = bounded_kernels()
    failures, rows = [], collections.defaultdict(dict)
    for (symbol, arch), use in uses.items():
        base = re.split(r"[<(]", names[symbol])[0].split("::")[-1]
        if base not in declared:
            failures.append(f"{names[symbol]}: its declaration was not found in kernels/")
        for problem in problems(base, arch, use, base in bounded):
            failures.append(f"{names[symbol]} for sm_{arch}: {problem}")
        rows[names[symbol] + ("" if base in bounded else " *")][arch] = use
    archs = sorted({arch for _, arch in uses})
    if options.table:
        write_table(options.table, rows, archs)
    print(f"{len(rows)} kernels for {', '.join(f'sm_{a}' for a in archs)}: {len(failures)} problems")
    for failure in sorted(set(failures)):
        print(f"  {failure}")
    return 1 if failures else 0


def write_table(path, rows, archs):
    lines = ["Registers per thread / bytes of static shared memory per block / bytes of local memory per thread of each kernel,",
             "from ptxas. Without a second or third number it is 0. * without __launch_bounds__: 64 registers fit in any block.",
             "Written by tests/filters/kernel_resources.py BUILD --table FILE.", ""]
    width = max(len(name) for name in rows)
    lines.append(f"{'':{width}}" + "".join(f"{f'sm_{a}':>16}" for a in archs))
    for name in sorted(rows):
        cells = []
        for arch in archs:
            use = rows[name].get(arch)
            text = "" if use is None else f"{use.registers}/{use.shared}/{use.local}"
            cells.append(f"{re.sub('(/0)+$', '', text):>16}")
        lines.append(f"{name:{width}}" + "".join(cells))
    path.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    sys.exit(main())
