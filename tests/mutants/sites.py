"""Finds the places of a C++ file that can be mutated.

The scanner is textual and relies on the formatting by clang-format: binary operators have blanks around them,
template brackets, pointers and references do not. It mutates only function bodies, and skips comments, strings,
preprocessor lines, static_assert, messages (log::, notice(), Error, fmt::format) and declared costs. It also skips
barriers of CUDA kernels: without one, a kernel fails only sometimes, and compute-sanitizer's racecheck looks for that.
"""

import re
from collections import namedtuple

# Replaces text[begin:end] by `new`.
Site = namedtuple("Site", "begin end new what")

BINARY = {
    "<": ["<=", ">="], "<=": ["<", ">"], ">": [">=", "<="], ">=": [">", "<"], "==": ["!="], "!=": ["=="],
    "&&": ["||"], "||": ["&&"], "+": ["-"], "-": ["+"], "*": ["/"], "/": ["*"], "%": ["*"],
    "&": ["|"], "|": ["&"], "^": ["&"], "<<": [">>"], ">>": ["<<"],
    "+=": ["-="], "-=": ["+="], "*=": ["/="], "|=": ["&="], "&=": ["|="],
}
WORDS = {"true": "false", "false": "true", "min": "max", "max": "min", "break": "continue", "continue": "break"}
SKIPPED_LINES = re.compile(
    r"static_assert|\blog::|\bnotice\(|\bnotify\(|\bError\(|\bthrow\b|fmt::format|\btemplate\b|\busing\b|\bassert\("
    r"|\.(bytes|operations|grain)\b =|\breserve\(|memory_order|\bstd::hash\b|_Pragma|\bdoc\b"
    r"|\bLENSD_LAUNCHED\b|\b__sync(threads|warp)\b")
KEYWORDS = {"if", "for", "while", "switch", "return", "throw", "delete", "case", "else", "do", "using", "new",
            "sizeof", "static_assert", "co_return", "const", "constexpr", "auto", "static", "goto", "default"}
# A call or an assignment that fills a line. Declarations do not match: they have a blank between type and name.
CALL = re.compile(r"^\s*((?:\+\+|--)?[A-Za-z_][\w:.\[\]>()-]*?(?:->|\.|::)?(\w+))\((.*)\);\s*$")
ASSIGNMENT = re.compile(r"^\s*([A-Za-z_][\w.\[\]>()-]*) (?:[-+*|&/]|<<|>>)?= .*;\s*$")
CONDITION = re.compile(r"\b(?:if|while) \((?!const |auto )")
TWO_ARGUMENTS = re.compile(r"\b(\w+)\(([\w.>\[\]-]+), ([\w.>\[\]-]+)\)")
NUMBER = re.compile(r"(?<![\w.'])(\d[\d']*)(\.\d*)?(e-?\d+)?([uUlLf]*)(?![\w.'])")
SYMMETRIC = {"min", "max", "hypot", "gcd", "swap"}


def blanked(text):
    """Returns the text with comments, strings and preprocessor lines replaced by blanks of the same length."""
    pattern = re.compile(
        r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|(?<!\w)\'(?:\\.|[^\'\\\n])+\''
        r"|^[ \t]*#(?:\\\n|[^\n])*", re.S | re.M)
    return pattern.sub(lambda m: re.sub(r"[^\n]", " ", m.group()), text)


def body_ranges(code):
    """Returns (begin, end) of the function bodies in text without comments and strings."""
    ranges, stack = [], []
    for match in re.finditer(r"[{}]", code):
        at = match.start()
        if match.group() == "{":
            in_body = any(kind == "body" for kind, _ in stack)
            before = code[max(0, at - 400):at].rstrip()
            head = re.split(r"[;{}]", before)[-1]
            declares = re.search(r"\b(namespace|struct|class|union|enum)\b", head) and not before.endswith(")")
            is_body = re.search(r"(\)|\bconst|\bnoexcept|\boverride|\bfinal|\belse|\bdo|\btry|-> [\w:<>*& ]+)$", before)
            kind = "other" if declares or not (is_body or in_body) else "inner" if in_body else "body"
            stack.append((kind, at))
        elif stack:
            kind, begin = stack.pop()
            if kind == "body":
                ranges.append((begin + 1, at))
    return ranges


def declared(line):
    """Returns true if the line begins with a keyword of declarations, which are not mutated."""
    return re.match(r"\s*(virtual|friend|typedef|extern|public|private|protected|enum|struct|class)\b", line)


def operator_sites(line):
    for match in re.finditer(r" ([-+*/%&|^<>=!]{1,2}) ", line):
        for new in BINARY.get(match.group(1), []):
            yield Site(match.start(1), match.end(1), new, "operator")
    for match in re.finditer(r"\+\+|--", line):
        yield Site(match.start(), match.end(), "--" if match.group() == "++" else "++", "operator")
    for match in re.finditer(r"(?<=[\s(])!(?=[\w(])", line):
        yield Site(match.start(), match.end(), "", "negation")


def constant_sites(line):
    for match in NUMBER.finditer(line):
        if line.endswith("px(", 0, match.start()):
            continue  # a distance on the screen; a test cannot know the right one
        digits, fraction, exponent, suffix = match.groups()
        if fraction or exponent:
            value = match.group()[: len(match.group()) - len(suffix)]
            yield Site(match.start(), match.end(), f"({value}{suffix} * 2 + 1)", "constant")
            continue
        value = int(digits.replace("'", ""))
        for changed in {value + 1, value - 1} - {-1}:
            yield Site(match.start(), match.end(), f"{changed}{suffix}", "constant")
    for match in re.finditer(r"\b(true|false|min|max|break|continue)\b(?!<|\))", line):
        word = match.group()
        if word in ("min", "max") and not line.startswith("std::", match.start() - 5):
            continue
        yield Site(match.start(), match.end(), WORDS[word], "word")


def statement_sites(line):
    for match in CONDITION.finditer(line):
        depth = 0
        for end in range(match.end() - 1, len(line)):
            depth += {"(": 1, ")": -1}.get(line[end], 0)
            if depth == 0:
                if ";" not in line[match.end():end]:  # skip conditions with an initialiser
                    yield Site(match.end(), end, f"!({line[match.end():end]})", "condition")
                break
    for match in TWO_ARGUMENTS.finditer(line):
        name, first, second = match.groups()
        if name not in KEYWORDS | SYMMETRIC and first != second:
            yield Site(match.start(2), match.end(3), f"{second}, {first}", "arguments")
    begin = len(line) - len(line.lstrip())
    call, assignment = CALL.match(line), ASSIGNMENT.match(line)
    found = call or assignment
    if found and line.count("(") == line.count(")") and re.match(r"\w*", found.group(1)).group() not in KEYWORDS:
        yield Site(begin, len(line.rstrip()), ";", "removed statement")


def sites(text):
    """Yields (line number, [Site…]) for every line that can be mutated. Positions are those of the whole text."""
    code = blanked(text)
    ranges = body_ranges(code)
    offset = 0
    for number, (line, original) in enumerate(zip(code.split("\n"), text.split("\n")), 1):
        begin, offset = offset, offset + len(line) + 1
        if not line.strip() or SKIPPED_LINES.search(original) or declared(line):
            continue
        found = [*operator_sites(line), *constant_sites(line), *statement_sites(line)]
        # Strings and comments are blank in `line`; do not rewrite conditions and arguments that contain them.
        found = [s for s in found if any(a <= begin + s.begin and begin + s.end <= b for a, b in ranges) and
                 (s.what not in ("condition", "arguments") or line[s.begin:s.end] == original[s.begin:s.end])]
        if found:
            yield number, [Site(begin + s.begin, begin + s.end, s.new, s.what) for s in found]
