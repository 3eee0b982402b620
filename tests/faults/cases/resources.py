"""Full, read-only and failing disks, limits of memory, descriptors and threads, two instances, leaps of the clock."""

import os
import shutil
import subprocess
import time

from cases import case
from injection import Injection
from senders import Skip, free_port
from test_cases import insist

SOURCE = "test:testsrc2=size=320x240:rate=60"


def on_small_disk(bench, *arguments, mount="mount -t tmpfs -o size=600k tmpfs"):
    """Starts a daemon whose folder `disk` is a separate file system. Returns the daemon and the folder's path."""
    os.makedirs(bench.path("disk"), exist_ok=True)
    wrapper = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", f'{mount} {bench.path("disk")} && exec "$0" "$@"']
    if not shutil.which("unshare") or subprocess.run([*wrapper, "true"], check=False, capture_output=True).returncode:
        raise Skip("no file system can be mounted here (unshare --user --mount)")
    daemon = bench.serve(*arguments, wrapper=wrapper)
    return daemon, f"/proc/{daemon.process.pid}/root{bench.path('disk')}"


def record_state(daemon, name):
    return daemon.ask("get", "record")[name]


def check_recording_failed(bench, daemon, path):
    """Checks that the failure is counted and reported, the file is playable, and the video continues. Returns the
    number of frames in the file."""
    daemon.until(lambda: record_state(daemon, "failures") > 0, "a failure of the recording", 20 * bench.patience)
    daemon.until(lambda: "recording stopped" in daemon.messages(), "the message")
    daemon.playing(30)
    dropped = daemon.ask("get", "counters")["dropped"]
    insist(dropped == 0, f"{dropped} frames dropped")
    result, hashes = bench.frames(path)
    insist(result.code == 0 and len(hashes) > 5, f"the recording: exit {result.code}, {len(hashes)} frames: {result.err}")
    return len(hashes)


@case("resources", "a recording on a tmpfs of 600 KiB", "it stops with a message and plays; the video goes on", slow=True)
def disk_full(bench):
    config = bench.write("r.toml", f'[record]\non = true\nfolder = "{bench.path("disk")}"\nname = "a.mkv"\n')
    daemon, disk = on_small_disk(bench, "-c", config, SOURCE)
    frames = check_recording_failed(bench, daemon, disk + "/a.mkv")
    reason = [line for line in daemon.messages().splitlines() if "recording stopped" in line][0]
    return f"{frames} frames play; {reason.split('warning: ')[-1]}; {daemon.end()}"


@case("resources", "a ring with keep_minutes = 60 on a tmpfs of 1 MiB", "the oldest files make room; nothing stops", deadline=20, slow=True)
def full_ring(bench):
    config = bench.write("r.toml", f'[record]\non = true\nfolder = "{bench.path("disk")}"\nname = "r.mkv"\ncodec = "ffv1"\n'
                         "split_seconds = 1\nkeep_minutes = 60\n")
    daemon, disk = on_small_disk(bench, "-c", config, "test:testsrc2=size=160x90:rate=10",
                                 mount="mount -t tmpfs -o size=1m tmpfs")
    daemon.until(lambda: os.path.exists(disk + "/r-001.mkv"), "the first file")
    daemon.until(lambda: not os.path.exists(disk + "/r-001.mkv"), "the first file is deleted", 60 * bench.patience)
    frames = record_state(daemon, "frames")
    daemon.until(lambda: record_state(daemon, "frames") > frames + 30, "3 s of footage more", 20 * bench.patience)
    insist(record_state(daemon, "failures") == 0, f"a failure: {daemon.messages()}")
    insist(daemon.messages().count("the disk is full") == 1, f"not one warning: {daemon.messages()}")
    files = sorted(name for name in os.listdir(disk) if name.endswith(".mkv"))
    insist(len(files) >= 3, f"only {files} are left")
    insist(time.time() - os.path.getmtime(f"{disk}/{files[-1]}") < 3, f"{files[-1]} is old")
    return f"{files[0]} to {files[-1]} are left; {daemon.end()}"


@case("resources", "a limit of 200 KB for files (RLIMIT_FSIZE) while recording", "as with a full disk", slow=True)
def file_size_limit(bench):
    daemon = bench.serve("--record", bench.path("a.mkv"), SOURCE, limits={"FSIZE": 200 << 10})
    return f"{check_recording_failed(bench, daemon, bench.path('a.mkv'))} frames play; {daemon.end()}"


@case("resources", "a batch run into a file above RLIMIT_FSIZE", "exit code 1, one line, the file plays")
def batch_file_size_limit(bench):
    output = bench.refused(1, "a.mkv", SOURCE, "--headless", "-q", "--frames", "200", "-o", bench.path("a.mkv"),
                         limits={"FSIZE": 100 << 10})
    result, hashes = bench.frames(bench.path("a.mkv"))
    insist(result.code == 0 and len(hashes) > 5, f"exit {result.code}, {len(hashes)} frames")
    return f"{output}; {len(hashes)} frames play"


@case("resources", "record and snapshot on a read-only file system", "refused with the reason; the video goes on")
def read_only(bench):
    bench.environment["LENSD_CONTROL_FOLDER"] = bench.path("disk")
    daemon, _ = on_small_disk(bench, SOURCE, mount="mount -t tmpfs -o ro tmpfs")
    daemon.playing()
    reasons = []
    for command in (("record", "a.mkv"), ("snapshot", "a.png"), ("trace", "a.json")):
        reasons.append(daemon.refusal(*command))
        insist("ead-only" in reasons[-1], reasons[-1])
    daemon.playing(5)
    return f"{reasons[0]}; {daemon.end()}"


@case("resources", "write() fails with EIO from the 8th call on, while recording", "the recording stops with a message")
def io_error(bench):
    injection = Injection(bench, "write:8+")
    daemon = bench.serve("--record", bench.path("a.mkv"), SOURCE, environment=injection.environment)
    daemon.until(lambda: record_state(daemon, "failures") > 0, "a failure of the recording", 10 * bench.patience)
    daemon.playing(5)
    return f"{injection.counts()['failed']} failed writes; {daemon.end()}"


@case("resources", "address space limited to 300 and 600 MB for pictures of 15360×8640", "exit code 1 or 4, one line", deadline=5)
def little_memory(bench):
    seen = set()
    for megabytes in (300, 600):
        result = bench.headless("test:testsrc2=size=15360x8640", "--frames", "1", "--threads", "2", "--graph", "gaussian",
                                limits={"AS": megabytes << 20})
        insist(result.code in (1, 4), f"{megabytes} MB: exit code {result.code}: {result.err[:200]}")
        seen.add(f"exit {result.code}: {result.line().split('lensd: ', 1)[-1]}")
    return "; ".join(sorted(seen))


@case("resources", "a running daemon with 700 MB of address space loads a source of 7680×4320", "refused; the old one plays",
      deadline=5)
def load_without_memory(bench):
    daemon = bench.serve("--threads", "2", "--graph", "gaussian=sigma=9,median=radius=9,bilateral",
                         "test:testsrc2=size=160x120:rate=60", limits={"AS": 700 << 20})
    daemon.playing()
    reason = daemon.refusal("load", "test:testsrc2=size=7680x4320")
    daemon.playing(5)
    return f"{reason}; {daemon.end()}"


@case("resources", "RLIMIT_NOFILE of 4 to 40 descriptors", "runs, or ends with a code and one line")
def few_descriptors(bench):
    codes = {}
    for limit in (4, 6, 8, 10, 12, 16, 24, 40):
        result = bench.headless("test:testsrc2=size=64x48", "--frames", "3", limits={"NOFILE": limit})
        insist(result.code in (0, 1, 3, 4, 5, 127), f"{limit}: exit code {result.code}: {result.err[:200]}")
        codes[limit] = result.code
    return "exit codes " + ", ".join(f"{limit}: {code}" for limit, code in codes.items())


@case("resources", "the 1st to 12th pthread_create() fails, and all from then on; batch run and daemon with HTTP",
      "runs, or ends with a code; no abort", deadline=5, slow=True)
def few_threads(bench):
    codes = []
    for number in range(1, 13):
        for later in ("", "+"):
            injection = Injection(bench, f"pthread_create:{number}{later}")
            result = bench.headless("test:testsrc2=size=64x48", "--frames", "3", "--threads", "3",
                                    environment=injection.environment)
            codes.append(result.code)
            insist(result.code in (0, 1, 4), f"{number}{later}: exit code {result.code}: {result.err[:200]}")
    daemons = []
    for number in range(1, 16):
        injection = Injection(bench, f"pthread_create:{number}+")
        port = free_port()
        process = subprocess.Popen([bench.lensd, "serve", "--socket", bench.path("t.sock"), "--http", str(port),
                                    "--threads", "2", SOURCE], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.PIPE, text=True, env={**bench.environment, **injection.environment})
        try:
            process.wait(0.5)
        except subprocess.TimeoutExpired:
            process.terminate()
        code = process.wait(bench.deadline)
        insist(code >= 0, f"serve, {number}: ended by signal {-code}: {process.stderr.read()[-200:]}")
        daemons.append(code)
    return f"batch {''.join(map(str, codes))}, serve {''.join(map(str, daemons))}"


@case("resources", "the wall clock leaps by ±1 h and ±10 years while a daemon plays and records", "no frame lost, no stall",
      deadline=3)
def clock_leaps(bench):
    injection = Injection(bench, clock=True)
    daemon = bench.serve("--record", bench.path("a.mkv"), SOURCE, environment=injection.environment)
    daemon.playing()
    for leap in (3600, -3600, 315360000, -315360000, 0):
        injection.set_clock(leap)
        daemon.playing(10, bench.deadline)
    counters = daemon.ask("get", "counters")
    insist(counters["dropped"] == 0 and counters["errors"] == 0, f"{counters}")
    ended = daemon.end()
    _, hashes = bench.frames(bench.path("a.mkv"))
    insist(len(hashes) >= counters["processed"], f"{len(hashes)} frames recorded of {counters['processed']}")
    return f"{counters['processed']} frames, all recorded; {ended}"


@case("resources", "a second daemon with the same socket, the same HTTP port", "exit code 1, one line; the first goes on", deadline=5)
def second_instance(bench):
    first = bench.serve(SOURCE, http=True)
    first.playing()
    seen = [bench.refused(1, "another lensd", "serve", "--socket", first.socket_path, SOURCE),
            bench.refused(1, str(first.port), "serve", "--socket", bench.path("b.sock"), "--http", str(first.port), SOURCE)]
    first.playing(5)
    insist(first.get("/healthz", token=False)[0] == 200, "healthz of the first")
    return f"{'; '.join(seen)}; {first.end()}"


@case("resources", "a second daemon in the same recording ring, with a smaller limit", "a warning; it deletes its own files only",
      deadline=10, slow=True)
def second_ring(bench):
    def ring(name, minutes):
        return bench.write(name, f'[record]\non = true\nfolder = "{bench.path("ring")}"\nname = "r-%H%M%S.mkv"\n'
                           f"split_seconds = 0.5\nkeep_minutes = {minutes}\n")
    small = "test:testsrc2=size=160x120:rate=60"
    first = bench.serve("-c", ring("a.toml", 0.05), small)
    first.until(lambda: record_state(first, "frames") >= 120, "2 s of footage")
    first.ask("pause")
    time.sleep(0.3)
    kept = {name for name in os.listdir(bench.path("ring")) if name.endswith(".mkv")}
    second = bench.serve("-c", ring("b.toml", 0.01), small, name="second")
    second.until(lambda: record_state(second, "frames") >= 180, "3 s of footage")
    second.end()
    now = {name for name in os.listdir(bench.path("ring")) if name.endswith(".mkv")}
    insist(kept <= now, f"deleted: {kept - now}")
    insist("belongs to another configuration" in second.messages(), f"no warning: {second.messages()[-300:]}")
    return f"{len(kept)} files of the first kept, {len(now - kept)} of the second; {first.end()}"


@case("resources", "a ring with keep_minutes = 0.02 is paused for 2.5 s", "no file is deleted without new footage", deadline=10,
      slow=True)
def paused_ring(bench):
    config = bench.write("r.toml", f'[record]\non = true\nfolder = "{bench.path("ring")}"\nname = "r-%H%M%S.mkv"\n'
                         "split_seconds = 0.3\nkeep_minutes = 0.02\n")
    daemon = bench.serve("-c", config, "test:testsrc2=size=160x120:rate=60")
    daemon.until(lambda: record_state(daemon, "frames") >= 120, "2 s of footage")
    daemon.ask("pause")
    time.sleep(0.3)
    before = sorted(os.listdir(bench.path("ring")))
    time.sleep(2.5)
    daemon.ask("pause", False)
    daemon.playing(6)
    after = os.listdir(bench.path("ring"))
    gone = set(before) - set(after)
    insist(len(gone) <= 1, f"deleted after the pause: {gone}")
    return f"{len(before)} files before, {len(gone)} deleted after 0.1 s of new footage; {daemon.end()}"


@case("resources", "500 restarts of a recording and of the graph; 20 loads", "threads, descriptors and memory as before", deadline=60,
      slow=True)
def nothing_left_behind(bench):
    daemon = bench.serve("--graph", "mosaic", "test:testsrc2=size=64x48:rate=60")
    daemon.playing()

    def work(rounds):
        for i in range(rounds):
            daemon.ask("graph-set", "median=radius=1,canny" if i % 2 else "mosaic")
            daemon.ask("record", f"r{work.files}.mkv")
            daemon.ask("record", "off")
            os.unlink(bench.path("captures", f"r{work.files}.mkv"))
            work.files += 1
            if i % 25 == 0:
                daemon.ask("load", f"test:testsrc2=size={64 + i % 3 * 16}x48:rate=60")
    work.files = 0
    work(50)
    before = daemon.usage()
    work(500)
    time.sleep(0.5)
    after = daemon.usage()
    insist(after.threads <= before.threads and after.descriptors <= before.descriptors, f"{before} → {after}")
    insist(after.rss_kib < before.rss_kib + (24 << 10), f"{before} → {after}")
    return f"{before} → {after}"

