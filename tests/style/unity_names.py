#!/usr/bin/env python3
"""Finds names that unity builds reject: two files of a target define the same name in an anonymous namespace.

usage: unity_names.py BUILD    BUILD/compile_commands.json tells which files a target has

The sanitizer builds compile several files of a target as one. Which ones depends on the list of files, so a clash may
show much later than the change that caused it.
"""
import collections
import json
import pathlib
import re
import sys

WORD = r"[A-Za-z_]\w*"
DEFINITIONS = (
    re.compile(rf"using ({WORD}) ="),
    re.compile(rf"(?:struct|class|enum|enum class|union) ({WORD})\b(?!.*;$)"),
    re.compile(rf"(?:inline |static )*(?:constexpr|const|thread_local|std::atomic\S*) .*?\b({WORD})(?:\[[^\]]*\])*(?: =|\{{|;)"),
    re.compile(rf"(?:TEST|TEST_F|TEST_P)\(({WORD}, {WORD})\)"),
)
FUNCTION = re.compile(rf"(?!return|else|if|for|while|switch|using|namespace)[\w:<>,&*\[\] ]+?[ &*]({WORD})(\(.*)$")


def definitions(path):
    """Returns the names that the file defines in anonymous namespaces. A function's name includes its parameters as
    far as its first line shows them, because functions may be overloaded."""
    names, inside = {}, False
    for line in path.read_text().splitlines():
        if line == "namespace {":
            inside = True
        elif line == "}  // namespace":
            inside = False
        elif inside and line and line[0] not in " /}#":
            for pattern in DEFINITIONS:
                if match := pattern.match(line):
                    names[match[1]] = line
                    break
            else:
                if match := FUNCTION.match(line):
                    names[match[1] + match[2]] = line
    return names


def clashes(files):
    """files: the target's sources. Yields a name with the two files that define it differently or as code."""
    first = {}
    for path in files:
        for name, line in definitions(path).items():
            other, text = first.setdefault(name, (path, line))
            same_alias = line.startswith("using ") and line == text
            if other != path and not same_alias:
                yield name, other, path


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    targets = collections.defaultdict(set)
    for entry in json.loads((pathlib.Path(sys.argv[1]) / "compile_commands.json").read_text()):
        match = re.search(r"CMakeFiles/(\w+)\.dir/", entry.get("output", entry["command"]))
        if match and entry["file"].endswith(".cpp") and "/kernels/" not in entry["file"]:
            targets[match[1]].add(pathlib.Path(entry["file"]))
    found = 0
    for target, files in sorted(targets.items()):
        for name, one, other in clashes(sorted(files)):
            print(f"{target}: {one} and {other} both define {name}")
            found += 1
    print(f"{found} clashes in {len(targets)} targets")
    sys.exit(1 if found or not targets else 0)


if __name__ == "__main__":
    main()
