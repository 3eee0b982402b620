"""Files and addresses that the user did not name, paths that leave their folder, other users, and secrets."""

import os
import socket
import subprocess
import threading

from cases import case
from senders import Skip
from test_cases import insist

SOURCE = "test:testsrc2=size=160x120:rate=60"


@case("security", "HLS and DASH playlists, concat lists, SDP that name local files and internal addresses",
      "exit code 4, one line; no file but the playlist is opened, no connection is made")
def playlists(bench):
    secret = bench.write("secret.mkv", b"")
    bench.run("test:testsrc2=size=64x48", "--headless", "-q", "--frames", "3", "--overwrite", "-o", secret)
    listener = socket.create_server(("127.0.0.1", 0))
    listener.settimeout(0.05)
    port = listener.getsockname()[1]
    entries = [secret, "secret.mkv", f"file://{secret}", f"http://127.0.0.1:{port}/x.ts", f"concat:{secret}|{secret}",
               f"subfile,,start,0,end,0,,:{secret}", "/etc/passwd"]
    files = {}
    for i, entry in enumerate(entries):
        files[f"a{i}.m3u8"] = f"#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\n{entry}\n#EXT-X-ENDLIST\n"
        files[f"b{i}.txt"] = f"ffconcat version 1.0\nfile '{entry}'\n"
    files["c.sdp"] = f"v=0\no=- 0 0 IN IP4 127.0.0.1\ns=x\nc=IN IP4 127.0.0.1\nt=0 0\nm=video {port} RTP/AVP 96\n"
    files["d.mpd"] = (f'<MPD type="static"><Period><AdaptationSet mimeType="video/mp4"><Representation id="1"><BaseURL>file://'
                      f'{secret}</BaseURL></Representation></AdaptationSet></Period></MPD>')
    for name, text in files.items():
        result = bench.headless(bench.write(name, text))
        insist(result.code == 4, f"{name}: exit code {result.code}: {result.err[:200]}")
        result.line()
        try:
            listener.accept()
            insist(False, f"{name}: lensd connected to the address in the file")
        except TimeoutError:
            pass
    listener.close()
    return f"{len(files)} files refused"


@case("security", "test sources that read files; protocols that run or join things", "exit code 4, one line")
def source_names(bench):
    path = bench.write("life.txt", "O..O\n.OO.\n")
    names = [f"test:life=filename={path}", f"test:cellauto=filename={path}", f"test:life=f={path}", f"test:movie={path}",
             f"test:movie=filename={path}", f"test:testsrc2[a];movie={path}[b];[a][b]hstack", f"concat:{path}|{path}",
             f"subfile:{path}", f"file://{path}", "pipe:0", "data:text/plain,x", f"crypto:{path}", "ftp://127.0.0.1/x",
             "gopher://127.0.0.1/x", f"async:{path}", f"cache:{path}", "tee:x", "fd:0"]
    for name in names:
        result = bench.headless(name)
        insist(result.code == 4, f"{name}: exit code {result.code}: {result.err[:200]}")
        result.line()
    return f"{len(names)} sources refused"


@case("security", "an HTTP source redirects to another internal address and to link-local addresses",
      "refused before a connection is made")
def redirects(bench):
    target = socket.create_server(("127.0.0.1", 0))
    target.settimeout(0.05)
    port = target.getsockname()[1]
    places = [f"http://[::ffff:127.0.0.1]:{port}/a.ts", f"http://127.0.0.2:{port}/a.ts",
              "http://169.254.169.254/latest", "http://10.0.0.1/a.ts", "file:///etc/passwd", "http://0/a.ts",
              f"http://2130706434:{port}/a.ts"]
    seen = []
    for place in places:
        with socket.create_server(("127.0.0.1", 0)) as server:
            def answer(server=server, place=place):
                try:
                    while True:
                        client, _ = server.accept()
                        client.recv(4096)
                        client.sendall(f"HTTP/1.1 302 Found\r\nLocation: {place}\r\nContent-Length: 0\r\n\r\n".encode())
                        client.close()
                except OSError:
                    pass
            threading.Thread(target=answer, daemon=True).start()
            result = bench.headless(f"http://127.0.0.1:{server.getsockname()[1]}/a.ts")
            server.shutdown(socket.SHUT_RDWR)
        insist(result.code == 4, f"{place}: exit code {result.code}")
        seen.append(result.line())
        try:
            target.accept()[0].close()
            insist(False, f"{place}: lensd connected to it")
        except TimeoutError:
            pass
    target.close()
    return f"{len(places)} redirections refused: {seen[2].split(': ', 2)[-1]}"


PATHS = ["../x", "/tmp/x", "sub/../../x", "link/x", "", ".", "..", ".hidden", "a\nb", "a/../../x", "\0", "x" * 300]


@case("security", f"snapshot, trace and record with {len(PATHS)} paths that leave the folder or are no names", "each is refused")
def captured_paths(bench):
    os.makedirs(bench.path("captures"))
    os.symlink(bench.work, bench.path("captures", "link"))
    daemon = bench.serve(SOURCE)
    daemon.playing()
    before = sorted(os.listdir(bench.work))
    for command, suffix in (("snapshot", ".png"), ("trace", ".json"), ("record", ".mkv")):
        for path in PATHS:
            daemon.refusal(command, path + suffix)
    insist(sorted(os.listdir(bench.work)) == before, f"new files: {set(os.listdir(bench.work)) - set(before)}")
    insist(not os.path.exists("/tmp/x.png"), "/tmp/x.png exists")
    return f"{3 * len(PATHS)} requests refused; {daemon.end()}"


@case("security", "snapshot, trace and record to files that lensd did not write, and to a recording", "refused; the files stay")
def foreign_files(bench):
    daemon = bench.serve(SOURCE)
    daemon.playing()
    own = {name: bench.write(os.path.join("captures", name), "precious") for name in ("a.png", "a.json", "a.mkv", "b.jpg")}
    daemon.refusal("snapshot", "a.png")
    daemon.refusal("snapshot", "b.jpg")
    daemon.refusal("trace", "a.json")
    daemon.refusal("record", "a.mkv")
    daemon.refusal("trace", "a.mkv")
    daemon.ask("record", "r.mkv")
    daemon.refusal("snapshot", "r.mkv")
    daemon.refusal("record", "r.mkv")
    os.symlink(own["a.mkv"], bench.path("captures", "l.png"))
    os.link(own["a.mkv"], bench.path("captures", "h.png"))
    for name in ("l.png", "h.png"):
        daemon.refusal("snapshot", name)
    for name, path in own.items():
        with open(path, encoding="ascii") as file:
            insist(file.read() == "precious", f"{name} was replaced")
    return f"8 requests refused; {daemon.end()}"


PASSWORDS = ["simple1", "it's-1", "my pass1", 'a"b1', "p#ss1", "pa/ss1", "p@ss1", "p?ss1", "pä€1", "a:b1"]


@case("security", f"{len(PASSWORDS)} passwords with quotes, blanks, #, / and @ in source and output addresses, RTMP keys",
      "in no message, property, metric, trace or log", deadline=5)
def secrets(bench):
    addresses = [f"rtsp://admin:{word}@127.0.0.1:1/live" for word in PASSWORDS]
    words = PASSWORDS + ["key-1234", "tok-5678"]
    daemon = bench.serve(SOURCE, "-o", "rtmp://127.0.0.1:1/app/key-1234", "-v", http=True)
    daemon.playing()
    seen = []
    for address in addresses + ["http://127.0.0.1:1/a.ts?token=tok-5678"]:
        threading.Thread(target=load_and_forget, args=(daemon, address), daemon=True).start()
        seen += [str(daemon.client.ask("get")), str(daemon.ask("stats"))]
    for path in ("/api/v1/get", "/metrics", "/api/v1/stats", "/api/v1/log"):
        seen.append(daemon.get(path)[1].decode(errors="replace"))
    seen += [str(daemon.ask("log")), daemon.messages()]
    for address in addresses:
        result = bench.headless(address, "-v", seconds=12)
        insist(result.code == 4, f"exit code {result.code}")
        seen.append(result.err)
    text = "\n".join(seen)
    for word in words:
        insist(word not in text, f"{word} is in ...{text[max(0, text.find(word) - 80):text.find(word) + 40]!r}")
    return f"{len(words)} secrets in none of {len(text) >> 10} KiB"


def load_and_forget(daemon, address):
    from socket_client import connect
    try:
        client = connect(daemon.socket_path)
        client.socket.settimeout(3)
        client.ask("load", address)
    except (OSError, RuntimeError):
        pass


@case("security", "mode of the socket; another user connects, also when the mode allows it", "0600; refused by SO_PEERCRED")
def other_user(bench):
    daemon = bench.serve(SOURCE)
    mode = os.stat(daemon.socket_path).st_mode & 0o777
    insist(mode == 0o600, f"mode {mode:o}")
    if os.geteuid() != 0:
        raise Skip("not root: no other user can be simulated")
    os.chmod(daemon.socket_path, 0o666)
    os.chmod(bench.work, 0o755)
    code = ("import socket, sys; s = socket.socket(socket.AF_UNIX); s.settimeout(5); s.connect(sys.argv[1]); "
            "s.sendall(b'{\"command\":[\"version\"]}\\n'); print(s.recv(4096))")
    output = subprocess.run(["/usr/bin/python3", "-c", code, daemon.socket_path], user=65534, group=65534, extra_groups=[],
                          capture_output=True, text=True, check=False, timeout=10)
    insist("success" not in output.stdout, f"another user was served: {output.stdout}")
    return f"0600; another user: {(output.stdout or output.stderr).strip().splitlines()[-1][:80]}"


@case("security", "lensd ctl finds a socket of another user at the default path in /tmp", "refused, nothing is sent")
def foreign_socket(bench):
    if os.geteuid() != 0:
        raise Skip("not root: no other user can be simulated")
    code = ("import os, socket, sys, time; os.setgid(65534); os.setuid(65533); s = socket.socket(socket.AF_UNIX); "
            "s.bind(sys.argv[1]); s.listen(); print('ready', flush=True); s.settimeout(10); c, _ = s.accept(); "
            "print('got', c.recv(100), flush=True)")
    folder = bench.path("run", "lensd")
    os.makedirs(folder)
    os.chmod(bench.work, 0o755)
    os.chmod(folder, 0o777)
    listener = subprocess.Popen(["/usr/bin/python3", "-c", code, folder + "/control.sock"], stdout=subprocess.PIPE, text=True)
    try:
        listener.stdout.readline()
        result = bench.run("ctl", "set", "a.b", "secret", environment={"XDG_RUNTIME_DIR": bench.path("run")})
        insist(result.code == 5, f"exit code {result.code}: {result.err}")
        sent = listener.stdout.readline()
        insist("secret" not in sent, f"the command was sent: {sent}")
        return f"exit 5: {result.err.strip().replace(bench.work, '')}"
    finally:
        listener.kill()
        listener.communicate()


@case("security", "commands that run programs: shell, run, system, exec, and mpv's subprocess", "unknown")
def no_programs(bench):
    daemon = bench.serve(SOURCE)
    for command in ("shell", "run", "system", "exec", "subprocess", "script-message", "load-script"):
        reason = daemon.refusal(command, "touch", bench.path("touched"))
        insist("no command" in reason, reason)
    insist(not os.path.exists(bench.path("touched")), "a program ran")
    return daemon.end()
