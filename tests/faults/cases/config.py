"""Configuration files: invalid content, every way of saving them, and paths that are not regular files."""

import os

from cases import case
from test_cases import insist

GOOD = '[[node]]\nfilter = "mosaic"\nblock = 8\n'
BAD = {
    "unknown key": ('[[node]]\nfilter = "mosaic"\nblok = 3\n', "block"),
    "duplicate key": ('[[node]]\nfilter = "mosaic"\nblock = 3\nblock = 4\n', ":4:"),
    "NaN": ('[[node]]\nfilter = "gaussian"\nsigma = nan\n', "sigma"),
    "infinity": ('[[node]]\nfilter = "gaussian"\nsigma = inf\n', "sigma"),
    "-infinity": ('[[node]]\nfilter = "gaussian"\nsigma = -inf\n', "sigma"),
    "1e308": ('[[node]]\nfilter = "gaussian"\nsigma = 1e308\n', "sigma"),
    "2^63": ('[[node]]\nfilter = "mosaic"\nblock = 9223372036854775808\n', ":3:"),
    "wrong type": ('[[node]]\nfilter = "mosaic"\nblock = "x"\n', "block"),
    "bad UTF-8": (b'[[node]]\nfilter = "\xff\xfe"\n', ":2:"),
    "a NUL byte": (b'[[node]]\nfilter = "mo\0saic"\n', ":2:"),
    "unknown table": ("[soruce]\nurl = 'x'\n", "source"),
    "half a table": ("[[node]\n", ":1:"),
    "nested arrays": ("a = " + "[" * 100_000 + "]" * 100_000, ""),
    "nested tables": ("a = " + "{a=" * 50_000 + "1" + "}" * 50_000, ""),
    "150,000 dotted parts": (".".join(["a"] * 150_000) + " = 1\n", ""),
    "a header of 150,000 parts": ("[" + ".".join(["a"] * 150_000) + "]\n", ""),
    "100 MB": ("#" * 100_000_000, ""),
    "257 nodes": ('[[node]]\nfilter = "invert"\n' * 257, "256"),
}


@case("config", "lensd check with " + ", ".join(BAD), "exit code 3, file:line:column", deadline=5)
def invalid(bench):
    longest = 0.0
    for name, (text, part) in BAD.items():
        result = bench.run("check", bench.write("bad.toml", text))
        output = result.out + result.err
        insist(result.code == 3, f"{name}: exit code {result.code}: {output[:300]!r}")
        insist("bad.toml" in output and part in output, f"{name}: {part!r} is not in {output[:300]!r}")
        insist(len(output) < 100_000, f"{name}: {len(output)} bytes of messages")
        insist(result.peak_kib < 400 << 10, f"{name}: {result.peak_kib >> 10} MiB resident")
        longest = max(longest, result.seconds)
    return f"{len(BAD)} files refused, longest {longest:.2f} s"


@case("config", "the same files on reload of a running daemon", "all or nothing: the old values stay, no frame is lost",
      deadline=5)
def invalid_on_reload(bench):
    path = bench.write("a.toml", GOOD)
    daemon = bench.serve("-c", path, "test:testsrc2=size=160x120:rate=60")
    daemon.playing()
    for name, (text, _) in BAD.items():
        bench.write("new.toml", text)
        os.rename(bench.path("new.toml"), path)
        daemon.refusal("reload")
        value = daemon.ask("get", "mosaic.block")
        insist(value == 8, f"{name}: mosaic.block is {value}")
    bench.write("new.toml", GOOD.replace("8", "9"))
    os.rename(bench.path("new.toml"), path)
    daemon.ask("reload")
    insist(daemon.ask("get", "mosaic.block") == 9, "a good file is no longer read")
    counters = daemon.ask("get", "counters")
    insist(counters["dropped"] == 0, f"{counters['dropped']} frames dropped")
    return f"{len(BAD)} reloads refused, a good one accepted; {daemon.end()}"


@case("config", "the file becomes a FIFO, /dev/zero, a folder, a dangling link, unreadable content",
      "refused; signals and commands are answered", deadline=3)
def not_a_file(bench):
    path = bench.write("a.toml", GOOD)
    daemon = bench.serve("-c", path, "test:testsrc2=size=160x120:rate=60")
    daemon.playing()
    makers = {"FIFO": os.mkfifo, "zero": lambda p: os.symlink("/dev/zero", p), "folder": os.mkdir,
              "dangling link": lambda p: os.symlink("nowhere", p), "memory": lambda p: os.symlink("/proc/self/mem", p)}
    for name, make in makers.items():
        os.rename(path, bench.path("old"))
        make(path)
        daemon.refusal("reload")
        insist(daemon.ask("get", "mosaic.block") == 8, f"{name}: a value changed")
        os.rename(path, bench.path("gone." + name))
        os.rename(bench.path("old"), path)
    insist(daemon.usage().rss_kib < 300 << 10, str(daemon.usage()))
    return f"{len(makers)} refused; {daemon.end()}"


def no_configuration(bench, path):
    result = bench.run("check", path)
    insist(result.code == 3 and result.out + result.err, f"{path}: exit code {result.code}")
    return f"exit 3: {(result.out + result.err).strip().replace(bench.work + '/', '')}"


@case("config", "lensd check on /dev/zero, a folder, a missing file", "exit code 3")
def check_of_no_file(bench):
    return [no_configuration(bench, path) for path in (bench.path("missing.toml"), bench.work, "/dev/zero")][-1]


@case("config", "lensd check on a FIFO that nobody writes", "exit code 3 (a pipe may take 10 s)", deadline=12, slow=True)
def check_of_a_fifo(bench):
    os.mkfifo(bench.path("fifo.toml"))
    return no_configuration(bench, bench.path("fifo.toml"))


@case("config", "truncate and write, rename, symlink swap, delete and create, each without a command",
      "each is noticed", deadline=3)
def ways_of_saving(bench):
    path = bench.write("a.toml", GOOD)
    daemon = bench.serve("-c", path, "test:testsrc2=size=160x120:rate=30")
    daemon.playing()

    def text(block):
        return GOOD.replace("8", str(block))

    def renamed(block):
        os.rename(bench.write("new", text(block)), path)

    def linked(block):
        os.symlink(bench.write(f"target{block}", text(block)), bench.path("link"))
        os.rename(bench.path("link"), path)

    def created(block):
        os.unlink(path)
        bench.write("a.toml", text(block))
    longest = 0.0
    for block, save in enumerate((lambda b: bench.write("a.toml", text(b)), renamed, linked, created), 20):
        save(block)
        longest = max(longest, daemon.until(lambda b=block: daemon.ask("get", "mosaic.block") == b, f"block {block}"))
    return f"4 ways, each within {longest * 1000:.0f} ms; {daemon.end()}"
