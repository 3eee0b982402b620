"""GPU faults that can be provoked without a GPU, and cases that need one."""

import os
import shutil
import subprocess

from cases import case
from senders import Skip
from test_cases import insist


def no_gpu():
    if os.path.exists("/dev/nvidiactl"):
        raise Skip("a GPU is here")


def test_program(name):
    """The path of a test program that ./dev test builds. Skips the case if there is no GPU or no such program."""
    if not os.path.exists("/dev/nvidiactl"):
        raise Skip("needs an NVIDIA GPU")
    program = os.path.join(os.path.dirname(os.environ["LENSD"]), "tests", name)
    if not os.path.exists(program):
        raise Skip(f"{name} is not built: ./dev test")
    return program


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


@case("gpu", "a kernel traps while frames are computed, in a batch run and in a live one", "the run ends and names the reason")
def device_fault(_):
    program = test_program("lensd_pipeline_tests")
    output = subprocess.run([program, "--gtest_filter=PipelineCuda.AFailingGpu*"], capture_output=True, text=True,
                            check=False, timeout=120)
    insist(output.returncode == 0 and "[       OK ]" in output.stdout, output.stdout[-400:])
    return "both runs ended"


@case("gpu", "out of device memory at each allocation", "the reason is named, exit code 1")
def device_memory(_):
    raise Skip("nothing makes each allocation fail yet")


@case("gpu", "compute-sanitizer over the kernels of all filters with pictures of 17x31 pixels", "no finding", slow=True)
def sanitized_kernels(_):
    program = test_program("lensd_filter_tests")
    tool = shutil.which("compute-sanitizer") or "/usr/local/cuda/bin/compute-sanitizer"
    if not os.path.exists(tool):
        raise Skip("compute-sanitizer is not installed")
    tests = "*CudaEqualsOracle*_17x31"
    output = subprocess.run([tool, "--error-exitcode", "9", program, f"--gtest_filter={tests}"], capture_output=True,
                            text=True, check=False, timeout=3600)
    lines = output.stdout.strip().splitlines()
    insist(output.returncode == 0, "; ".join(lines)[-400:])
    return lines[-1]
