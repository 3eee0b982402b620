"""GPU faults that can be provoked without a GPU, and cases that need one."""

import os

from cases import case
from senders import Skip
from test_cases import insist


def no_gpu():
    if os.path.exists("/dev/nvidiactl"):
        raise Skip("a GPU is here")


def needs_gpu(what):
    raise Skip(f"{what} needs an NVIDIA GPU: tests/unit and compute-sanitizer on a machine with one")


@case("gpu", "--backend=cuda without a GPU, in a batch run and a daemon", "exit code 5, the reason is named")
def no_device(bench):
    no_gpu()
    bench.refused(5, "cuda", "serve", "--socket", "off", "test:testsrc2", "--backend=cuda")
    return bench.refused(5, "cuda", "test:testsrc2", "--headless", "-o", "null:", "--backend=cuda")


@case("gpu", "--backend=auto without a GPU", "the CPU is used, and the reason is logged")
def automatic_backend(bench):
    no_gpu()
    result = bench.run("test:testsrc2=size=64x48", "--headless", "--frames", "2", "-o", "null:", "--backend=auto", "-v")
    insist(result.code == 0, result.err)
    lines = [line for line in result.err.splitlines() if "backend" in line]
    insist(lines and "cpu" in lines[0], f"no line names the backend: {result.err[:300]}")
    return lines[0]


@case("gpu", "a device number that does not exist", "exit code 5 or 2, one line")
def wrong_device(bench):
    no_gpu()
    result = bench.headless("test:testsrc2", "--backend=cuda", "--device", "99")
    insist(result.code in (2, 5), f"exit code {result.code}: {result.err}")
    return f"exit {result.code}: {result.line()}"


@case("gpu", "no display; a display that does not exist", "exit code 5, one line")
def no_display(bench):
    for name in ("DISPLAY", "WAYLAND_DISPLAY"):
        bench.environment.pop(name, None)
    bench.refused(5, "display", "test:testsrc2")
    return bench.refused(5, "display", "test:testsrc2", environment={"DISPLAY": ":64999"})


@case("gpu", "out of device memory at each allocation, sticky errors, a lost device", "the reason is named, exit code 1")
def device_errors(_):
    needs_gpu("an error of the device")


@case("gpu", "compute-sanitizer over all kernels; random delays of streams", "no finding; the same bytes")
def sanitized_kernels(_):
    needs_gpu("compute-sanitizer")
