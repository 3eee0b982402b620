#!/usr/bin/env python3
"""Finds names that builds with unity files or precompiled headers reject: a name in an anonymous namespace of one file
that another file of the target, a header that a file of the target includes, a precompiled header or the system defines
or declares too. Finds functions in anonymous namespaces that hide functions of the same name, with other parameters, which
another file calls in its anonymous namespace.

usage: unity_names.py BUILD    BUILD/compile_commands.json tells which files a target has

The sanitizer builds compile several files of a target as one. Which ones depends on the list of files, so a clash may
show much later than the change that caused it.
"""
import collections
import functools
import json
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
PRECOMPILED = ROOT / "cmake" / "precompiled.hpp"  # part of every file in builds without ccache
WORD = r"[A-Za-z_]\w*"
DEFINITIONS = (
    re.compile(rf"using ({WORD}) ="),
    re.compile(rf"(?:struct|class|enum class|enum|union) ({WORD})\b(?!.*;$)"),
    re.compile(rf"(?:inline |static |extern )*(?:constexpr|const|thread_local|std::atomic\S*) .*?\b({WORD})(?:\[[^\]]*\])*(?: =|\{{|;)"),
    re.compile(rf"(?:TEST|TEST_F|TEST_P)\(({WORD}, {WORD})\)"),
)
FUNCTION = re.compile(rf"(?!return|else|if|for|while|switch|using|namespace)[\w:<>,&*\[\] ]+?[ &*]({WORD})(\(.*)$")
# Headers of the project and of libraries call these without "::".
SYSTEM_CALLS = {"accept", "bind", "close", "connect", "link", "listen", "open", "pipe", "poll", "read", "recv", "remove", "rename",
                "select", "send", "stat", "unlink", "write"}
INCLUDE = re.compile(r'#include "([^"]+)"')


def parameter_types(parameters):
    """parameters: a function's text from its opening parenthesis on. Returns the types, without names and defaults."""
    depth, part, parts = 0, "", []
    for letter in parameters:
        depth += (letter in "(<{[") - (letter in ")>}]")
        if depth == 0:
            break
        if depth == 1 and letter == ",":
            parts.append(part)
            part = ""
        elif part or letter != "(":
            part += letter
    types = []
    for part in filter(None, (p.split("=")[0].strip() for p in parts + [part])):
        words = re.match(rf"(.*[\s&*>])({WORD})(\[\])?$", part)
        types.append(re.sub(r"\s+", "", words[1] if words and words[1].strip() != "const" else part))
    return "(" + ", ".join(types) + ")"


@functools.cache
def definitions(path):
    """Returns two dictionaries, name to line: what the file has in anonymous namespaces, and in named ones. A name
    includes its named namespace. A function's name includes the types of its parameters, because functions may be
    overloaded."""
    anonymous, named = {}, {}
    space, inside = "", False
    lines = path.read_text().splitlines()
    for number, line in enumerate(lines):
        if line == "namespace {":
            inside = True
        elif line == "}  // namespace":
            inside = False
        elif match := re.match(r"namespace ([\w:]+) \{$", line):
            space = match[1] + "::"
        elif re.match(r"\}  // namespace \w", line):
            space = ""
        elif line and line[0] not in " /}#":
            names = anonymous if inside else named
            if line.startswith("constexpr "):  # may define several names, on several lines
                text = re.split(r";\s*(?://.*)?$", "\n".join(lines[number:number + 8]), maxsplit=1, flags=re.M)[0]
                function = re.search(r"\)\s*\{", text)  # whose local names do not matter
                for name in [] if function else re.findall(rf"(?:\s|,)({WORD}) = ", text):
                    names.setdefault(space + name, line)
            for pattern in DEFINITIONS:
                if match := pattern.match(line):
                    names[space + match[1]] = line
                    break
            else:
                if (match := FUNCTION.match(line)) and "::" + match[1] not in line:
                    more = " ".join(lines[number + 1:number + 8])
                    names[space + match[1] + parameter_types(match[2] + " " + more)] = line
    return anonymous, named


def headers(files):
    """Returns the project's headers that the files include, directly or through others."""
    found, new = set(), set(files)
    while new:
        included = {ROOT / name for path in new for name in INCLUDE.findall(path.read_text())}
        new = {path for path in included if path.is_file()} - found
        found |= new
    return found


def clashes(files):
    """files: the target's sources. Yields a name with the two files that define it differently or as code."""
    first = {}
    for path in [*files, *sorted(headers([*files, PRECOMPILED]))]:
        for name, line in definitions(path)[1].items():
            first.setdefault(name, (path, line))
    for path in files:
        for name, line in definitions(path)[0].items():
            other, text = first.setdefault(name, (path, line))
            same_alias = line.startswith("using ") and line == text
            function = re.search(rf"({WORD})\(", name)
            if function and function[1] in SYSTEM_CALLS:
                yield name, pathlib.Path("a system call"), path
            if other != path and not same_alias:
                yield name, other, path


def base_name(name):
    """Returns the namespace and the name of a function without its parameters, or None."""
    match = re.match(rf"([\w:]*?)({WORD})\(", name)
    return match and (match[1], match[2])


@functools.cache
def calls(path):
    """Returns the functions that are called without a qualifier in the file's anonymous namespaces."""
    inside, found = False, set()
    for line in path.read_text().splitlines():
        inside = line == "namespace {" or (inside and line != "}  // namespace")
        if inside:
            found |= set(re.findall(rf"(?:(?<![\w.>: ])|\breturn |[=(,?:&|!] )({WORD})\(", line.split("//")[0]))
    return found


def hidden(files):
    """files: the target's sources. Yields a function of a named namespace, the file whose function hides it in a unity
    file, and the file that calls it."""
    public = {base_name(name) for path in [*files, *headers([*files, PRECOMPILED])] for name in definitions(path)[1]}
    private = {path: {base_name(name) for name in definitions(path)[0]} - {None} for path in files}
    for one in files:
        for name in sorted(private[one] & public):
            for other in files:
                if name[1] in calls(other) and name not in private[other]:
                    yield name[0] + name[1], one, other


def sources(path):
    """Returns the C++ sources of a compiled file: those that a unity file includes, or the file itself."""
    paths = map(pathlib.Path, INCLUDE.findall(path.read_text())) if path.parent.name == "Unity" else [path]
    return [path for path in paths if path.suffix == ".cpp"]


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    targets = collections.defaultdict(set)
    for entry in json.loads((pathlib.Path(sys.argv[1]) / "compile_commands.json").read_text()):
        # Before CMake 3.26, entries have no output. The command also names the target of the precompiled header.
        output = entry.get("output") or entry["command"].split(" -o ")[-1]
        match = re.search(r"CMakeFiles/(\w+)\.dir/", output)
        if match:
            targets[match[1]].update(path for path in sources(pathlib.Path(entry["file"])) if "/kernels/" not in str(path))
    found = 0
    for target, files in sorted(targets.items()):
        for name, one, other in clashes(sorted(files)):
            print(f"{target}: {one} and {other} both define {name}")
            found += 1
        for name, one, other in hidden(sorted(files)):
            print(f"{target}: {name} is hidden in {other} by the one in {one}")
            found += 1
    print(f"{found} clashes in {len(targets)} targets")
    sys.exit(1 if found or not targets else 0)


if __name__ == "__main__":
    main()
