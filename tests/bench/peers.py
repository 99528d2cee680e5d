"""The victims, one a peer: compiling them, starting them, asking them."""

import os
import select
import shutil
import subprocess
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
COMMON = ["heap.c", "table.c", "shapes.c", "load.c", "writer.c", "victim.c"]
FLAGS = ["-std=gnu11", "-O2", "-g", "-D_GNU_SOURCE", "-I" + ROOT,
         "-I" + os.path.join(ROOT, "include")]
NAMES = {
    "ours": "memunreachable",
    "lsan-clang": "LeakSanitizer (clang)",
    "lsan-gcc": "LeakSanitizer (gcc)",
    "hlc": "gperftools heap checker",
    "valgrind": "Valgrind memcheck",
}
ANSWER_SECONDS = 900


def sources(names):
    return [os.path.join(HERE, name) for name in names]


class Missing(Exception):
    """A peer that is not here, and why."""


def run(command):
    done = subprocess.run(command, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True)
    if done.returncode != 0:
        raise Missing((done.stdout.strip().splitlines() or ["no words"])[0])


def is_older(target, names):
    if not os.path.exists(target):
        return True
    files = sources(names) + [os.path.join(HERE, n)
                              for n in ("heap.h", "load.h", "peer.h",
                                        "table.h")]
    return os.path.getmtime(target) < max(map(os.path.getmtime, files))


def compile_hlc(folder, out):
    objects = []
    for name in COMMON:
        objects.append(os.path.join(folder, "hlc-" + name + ".o"))
        run(["gcc"] + FLAGS + ["-c", "-o", objects[-1]] + sources([name]))
    run(["g++", "-O2", "-g", "-o", out] + objects + sources(["peer_hlc.cc"]) +
        ["-ltcmalloc", "-pthread"])


def compile_peer(name, build):
    """The path of the victim for this peer; Missing if it cannot be had."""
    folder = os.path.join(build, "bench")
    os.makedirs(folder, exist_ok=True)
    out = os.path.join(folder, "victim-" + name)
    peer = {"ours": "peer_ours.c", "hlc": "peer_hlc.cc",
            "valgrind": "peer_valgrind.c"}.get(name, "peer_lsan.c")
    if name == "valgrind" and shutil.which("valgrind") is None:
        raise Missing("no valgrind")
    compiler = "clang" if name == "lsan-clang" else "gcc"
    if shutil.which(compiler) is None:
        raise Missing("no " + compiler)
    if not is_older(out, COMMON + [peer]):
        return out
    if name == "hlc":
        compile_hlc(folder, out)
        return out
    extra = []
    if name == "ours":
        extra = ["-L" + build, "-lmemunreachable", "-Wl,-rpath," + build]
    elif name.startswith("lsan"):
        extra = ["-fsanitize=leak"]
    run([compiler] + FLAGS + ["-o", out] + sources(COMMON + [peer]) + extra +
        ["-pthread"])
    return out


def compile_limits(build):
    folder = os.path.join(build, "bench")
    os.makedirs(folder, exist_ok=True)
    out = os.path.join(folder, "limits")
    if is_older(out, ["limits.c"]):
        run(["gcc"] + FLAGS + ["-o", out] + sources(["limits.c", "load.c"]) +
            ["-pthread"])
    return out


def words_of(line):
    """key=value words; what follows reason= is one value."""
    line, _, reason = line.partition("reason=")
    found = {"reason": reason.strip()}
    if " gap_ns=" in reason:
        found["reason"], _, rest = reason.partition(" gap_ns=")
        line += " gap_ns=" + rest
    for word in line.split():
        key, equals, value = word.partition("=")
        if equals:
            found[key] = value if key in ("digest", "peer") else float(value)
    return found


class Victim:
    """A running victim. Lines that it logs are kept with their arrival."""

    def __init__(self, name, path, settings, options=(), log=False):
        self.name = name
        self.log = []
        command = [path] + ["%s=%s" % pair for pair in settings.items()]
        environment = dict(os.environ)
        options = ["timeout=600s"] + list(options)
        if log:
            options.append("verbosity=2")
        environment["MEMUNREACHABLE_OPTIONS"] = ":".join(options)
        if name == "valgrind":
            command = ["valgrind", "--leak-check=full",
                       "--log-file=/dev/null"] + command
        if name == "hlc":
            environment["HEAPCHECK"] = "local"
            environment["HEAP_CHECK_DUMP_DIRECTORY"] = os.path.dirname(path)
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE if log else subprocess.DEVNULL, bufsize=0,
            env=environment)
        if log:
            threading.Thread(target=self.listen, daemon=True).start()
        self.about = {}

    def await_ready(self):
        """The heap is built, which several victims may do at a time."""
        self.about = self.answer()

    def listen(self):
        rest = b""
        while True:
            data = os.read(self.process.stderr.fileno(), 65536)
            now = time.monotonic_ns()
            if not data:
                return
            *lines, rest = (rest + data).split(b"\n")
            self.log += [(now, line.decode(errors="replace"))
                         for line in lines]

    def answer(self):
        line = b""
        while not line.endswith(b"\n"):
            ready, _, _ = select.select([self.process.stdout], [], [],
                                        ANSWER_SECONDS)
            data = self.process.stdout.read(4096) if ready else b""
            if not data:
                raise RuntimeError("%s gave no answer" % self.name)
            line += data
        return words_of(line.decode())

    def ask(self, command):
        self.log = []
        self.process.stdin.write(command.encode() + b"\n")
        return self.answer()

    def close(self):
        self.process.stdin.close()
        try:
            self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process.stdout.close()
