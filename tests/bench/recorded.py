"""The recorder beside those that also know who allocated: section recorder."""

import glob
import os
import shutil
import subprocess
import sys

import peers

OPTIONS = {
    "recorder, no stacks": "leak_track",
    "recorder, stacks": "backtrace=16",
    "recorder, sampled": "backtrace=16 backtrace_sample=524288",
}
ROUNDS_OF = {"pairs": 15, "program": 15}
SLOW = ("gperftools", "leaktracer")  # microseconds a block: once
THOUSANDS = {"gperftools": 20, "leaktracer": 20, "heaptrack": 500}


def compiled(build, name, compiler, extra):
    folder = os.path.join(build, "bench")
    os.makedirs(folder, exist_ok=True)
    out = os.path.join(folder, "pairs-" + name)
    if shutil.which(compiler) is None:
        raise peers.Missing("no " + compiler)
    peers.run([compiler] + peers.FLAGS + [
        "-fno-omit-frame-pointer", "-fno-builtin", "-o", out] +
        peers.sources(["pairs.c"]) + extra + ["-pthread"])
    return out


def first_of(*patterns):
    for pattern in patterns:
        for path in sorted(glob.glob(pattern)):
            return path
    raise peers.Missing("no " + patterns[0])


class Way:
    """How a program is run so that its blocks are recorded."""

    def __init__(self, pairs, preload=None, environment=None):
        self.pairs, self.preload = pairs, preload
        self.environment = environment or {}

    def run(self, command, **more):
        environment = dict(os.environ, **self.environment, **more)
        environment.pop("MALLOC_ARENA_MAX", None)
        if self.preload:
            environment["LD_PRELOAD"] = self.preload
        process = subprocess.Popen(command, env=environment,
                                   stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE,
                                   stderr=subprocess.DEVNULL)
        text = process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = status
        return text.decode(errors="replace"), usage, status


def heaptrack(plain):
    return Way(plain, first_of(
        "/usr/lib/heaptrack/libheaptrack_preload.so",
        "/usr/lib/*/heaptrack/libheaptrack_preload.so"),
        {"DUMP_HEAPTRACK_OUTPUT": "/dev/null"})


def gperftools(plain):
    return Way(plain, first_of("/usr/lib/*/libtcmalloc.so.4"), {
        "HEAPPROFILE": "/dev/null/none",
        "HEAP_PROFILE_ALLOCATION_INTERVAL": str(1 << 60),
        "HEAP_PROFILE_INUSE_INTERVAL": str(1 << 60)})


def leaktracer(plain):
    path = os.environ.get("LEAKTRACER_SHARED_LIB")
    if not path:
        raise peers.Missing("LEAKTRACER_SHARED_LIB does not say where it is")
    return Way(plain, path, {
        "LEAKTRACER_ONSTART_STARTALLTHREAD": "1", "LEAKTRACER_NOBANNER": "1"})


def sanitizer(build, compiler):
    return Way(compiled(build, "lsan-" + compiler, compiler,
                        ["-fsanitize=leak"]), None,
               {"LSAN_OPTIONS": "detect_leaks=0:malloc_context_size=16"})


def ways(build, warn):
    plain = compiled(build, "plain", "gcc", [])
    found = {"plain": Way(plain)}
    library = os.path.join(build, "libmemunreachable-malloc-debug.so")
    for name, options in OPTIONS.items():
        found[name] = Way(plain, library,
                          {"LIBC_DEBUG_MALLOC_OPTIONS": options})
    for name, make in (
            ("lsan-clang", lambda: sanitizer(build, "clang")),
            ("lsan-gcc", lambda: sanitizer(build, "gcc")),
            ("heaptrack", lambda: heaptrack(plain)),
            ("gperftools", lambda: gperftools(plain)),
            ("leaktracer", lambda: leaktracer(plain))):
        try:
            found[name] = make()
        except peers.Missing as why:
            warn("left out: %s: %s" % (name, why))
    return found


class Recorded:
    """What measure.Bench has of these."""

    def measure_recorder(self):
        found = ways(self.build, self.warn)
        for threads in (1, 2):
            for count in range(3 if self.quick else ROUNDS_OF["pairs"]):
                for name, way in found.items():
                    if count < 3 or name not in SLOW:
                        self.add_pairs(name, way, 10, threads)
            self.show("pairs", "depth 10", 0, threads)
        for name in ("lsan-clang", "lsan-gcc"):
            found.pop(name, None)  # a program of others is not rebuilt
        for program, command, more in self.programs():
            for count in range(3 if self.quick else ROUNDS_OF["program"]):
                for name, way in found.items():
                    if count == 0 or name not in SLOW:
                        self.add_program(name, way, program, command, more)
            self.show("program", program, 0)
            self.show("program.rss", program, 0)

    def add_pairs(self, name, way, depth, threads):
        text, _, status = way.run([way.pairs, str(depth), str(threads),
                                   str(THOUSANDS.get(name, 4000))])
        if status != 0 or not text:
            self.warn("%s: pairs ended with status %d" % (name, status))
            return
        self.add("pairs", name, "depth %d" % depth, 0, float(text), "ns",
                 threads)

    def programs(self):
        here = peers.HERE
        yield ("python3", [sys.executable, os.path.join(here, "work.py")],
               {"PYTHONMALLOC": "malloc"})
        if shutil.which("sqlite3"):
            yield ("sqlite3", ["sqlite3", ":memory:", ".read " + os.path.join(
                here, "work.sql")], {})
        else:
            self.warn("left out: no sqlite3")

    def add_program(self, name, way, program, command, more):
        _, usage, status = way.run(command, **more)
        if status != 0:
            self.warn("%s: %s ended with status %d" % (name, program, status))
            return
        self.add("program", name, program, 0,
                 (usage.ru_utime + usage.ru_stime) * 1e3, "ms")
        self.add("program.rss", name, program, 0, usage.ru_maxrss, "KiB")
