"""What is measured: one method a section, peers in turn on equal heaps."""

import contextlib
import os
import re
import subprocess
import sys
import time

import explain
import growth
import machine
import peers
import recorded
from results import SHAPES, median

SECTIONS = ["limits", "pass", "pause", "write", "memory", "blocks", "edges",
            "leaks", "threads", "mappings", "freed", "workers", "idle",
            "recorder", "explain"]
GROUPS = {"growth": ["blocks", "edges", "leaks", "threads", "mappings",
                     "freed"]}
# A check takes seconds and more beyond these.
MOST_BLOCKS = {"valgrind": 1e6, "hlc": 1e6}
MOST_BLOCKS_OF = {("hlc", "graph"): 1e7}


class Bench(growth.Growth, recorded.Recorded, explain.Explain):
    def __init__(self, words, options):
        self.quick = "quick" in words
        self.whole = "whole" in words
        self.records = []  # (what, peer, shape, blocks, threads, value, unit)
        self.warnings = []
        self.name = "-".join(words)[:40]
        self.shapes = [s for s in SHAPES if s in words] or SHAPES
        self.sections = self.choose(words)
        self.build = os.path.abspath(options.build)
        self.most = options.max or (1e6 if self.quick else 1e9)
        self.rounds = options.rounds or (3 if self.quick else 5)
        self.asked = (options.peers or ",".join(peers.NAMES)).split(",")
        if not set(self.asked) <= set(peers.NAMES):
            raise ValueError("the peers are: " + " ".join(peers.NAMES))
        self.paths = {}
        self.began = time.time()
        self.described = machine.described()

    def choose(self, words):
        known = SECTIONS + SHAPES + list(GROUPS) + ["whole", "quick"]
        for word in words:
            if word not in known:
                raise ValueError("no section %s; there are: %s" %
                                 (word, " ".join(known)))
        if self.whole or words == ["quick"]:
            return SECTIONS
        chosen = ["pass"] if set(words) & set(SHAPES) else []
        for word in words:
            chosen += GROUPS.get(word, [word])
        return [s for s in SECTIONS if s in chosen]

    def run(self):
        if os.getloadavg()[0] > 0.5:
            self.warn("the machine had other work when this began")
        for name in self.asked:
            try:
                self.paths[name] = peers.compile_peer(name, self.build)
            except peers.Missing as why:
                self.warn("left out: %s: %s" % (name, why))
        try:
            for section in self.sections:
                self.tell("# " + section)
                getattr(self, "measure_" + section)()
        except KeyboardInterrupt:
            self.warn("stopped before its end")
        self.took = time.time() - self.began

    # Ground.

    def tell(self, text):
        print(text, file=sys.stderr, flush=True)

    def warn(self, text):
        if text not in self.warnings:
            self.warnings.append(text)
            self.tell("bench: " + text)

    def add(self, what, peer, shape, blocks, value, unit, threads=0):
        self.records.append((time.strftime("%Y-%m-%dT%H:%M:%S"), what, peer,
                             shape, int(blocks), int(threads), value, unit))

    def sizes(self, *counts):
        return [int(n) for n in counts if n <= self.most]

    @contextlib.contextmanager
    def victims(self, names, shape, blocks, **settings):
        """The victims that can be had, by name; all with the same heap."""
        started = {}
        log = settings.pop("log", False)
        options = settings.pop("options", {})
        settings = dict(settings, shape=shape, blocks=int(blocks))
        try:
            for name in names:
                peer = name.split(":")[0]
                if peer in self.paths:
                    started[name] = peers.Victim(
                        peer, self.paths[peer], settings,
                        options.get(name, ()), log)
            for name in list(started):
                try:
                    started[name].await_ready()
                except (RuntimeError, OSError) as why:
                    self.warn("%s has no %s of %d: %s" %
                              (name, shape, blocks, why))
                    started.pop(name).close()
            yield started
        finally:
            for victim in started.values():
                victim.close()

    def ask(self, victim, command):
        """The answer, or None with a warning when it is not the true one."""
        try:
            answer = victim.ask(command)
        except (RuntimeError, OSError) as why:
            self.warn("%s died of %s: %s" % (victim.name, command, why))
            return None
        if victim.name == "ours" and "lost" in answer:
            if answer.get("status") != 0:
                self.warn("ours: status %d: %s" % (answer["status"],
                                                   answer["reason"]))
            if answer["lost"] != victim.about["lost"]:
                self.warn("ours: %d lost, said to be %d" %
                          (victim.about["lost"], answer["lost"]))
            return answer if answer.get("status") in (0, 1) else None
        return answer

    # Sections.

    def measure_limits(self):
        try:
            path = peers.compile_limits(self.build)
        except peers.Missing as why:
            self.warn("no limits: %s" % why)
            return
        for blocks in self.sizes(1e5, 1e6, 1e7):
            mib = max(1, blocks * 139 >> 20)  # a block with its header
            for _ in range(3):
                done = subprocess.run([path, str(mib)], text=True,
                                      stdout=subprocess.PIPE)
                for key, value in peers.words_of(done.stdout).items():
                    if key != "reason":
                        self.add("limit." + key, "machine", "buffer", blocks,
                                 value, key.rsplit("_", 1)[1])

    def measure_pass(self):
        for blocks in self.sizes(1e3, 1e4, 1e5, 1e6, 1e7):
            for shape in self.shapes:
                self.measure_pass_of(shape, blocks)

    def measure_pass_of(self, shape, blocks):
        names = [n for n in self.asked if blocks <= max(
            MOST_BLOCKS.get(n, 1e9), MOST_BLOCKS_OF.get((n, shape), 0))]
        if self.quick and blocks > 1e5:
            names = [n for n in names if n != "valgrind"]
        rounds = self.rounds if blocks > 1e5 or self.quick else 9
        if blocks < 1e5:  # 0.3 to 3 ms each
            rounds = 60
            names = [n for n in names if n != "valgrind"]
        with self.victims(names, shape, blocks) as started:
            for _ in range(rounds):
                for name, victim in started.items():
                    answer = self.ask(victim, "check")
                    if answer is None:
                        continue
                    self.add("pass", name, shape, blocks,
                             answer["took_ns"] / 1e6, "ms")
                    self.add("pass.cpu", name, shape, blocks,
                             answer["cpu_ns"] / 1e6, "ms")
                    if name == "ours":
                        self.add("pass.pause", name, shape, blocks,
                                 answer["pause_ns"] / 1e6, "ms")
                        self.add("pass.bytes", name, shape, blocks,
                                 victim.about["bytes"], "bytes")
        self.show("pass", shape, blocks)
        self.show("pass.cpu", shape, blocks)

    def show(self, what, shape, blocks, threads=0):
        found = {}
        for _, w, peer, s, b, t, value, _ in self.records:
            if (w, s, b, t) == (what, shape, blocks, threads):
                found.setdefault(peer, []).append(value)
        self.tell("  %s %s %d%s: %s" % (
            what, shape, blocks, " threads=%d" % threads if threads else "",
            ", ".join("%s %.2f (least %.2f)" % (p, median(v), min(v))
                      for p, v in found.items())))

    def measure_pause(self):
        for blocks, threads in ((1e6, 0), (1e6, 8), (1e6, 64), (1e6, 512),
                                (1e6, 1024), (1e7, 0), (1e7, 64)):
            if blocks > self.most or (self.quick and threads not in (0, 64)):
                continue
            names = ["ours", "lsan-clang", "lsan-gcc"]
            if blocks <= 1e6 and threads == 0:
                names.append("hlc")
            elif threads > 0:
                names = ["ours", "lsan-clang"] if blocks <= 1e6 else ["ours"]
            self.measure_pause_of(names, int(blocks), threads)

    def measure_pause_of(self, names, blocks, threads):
        def add(what, peer, value):
            self.add(what, peer, "graph", blocks, value / 1e6, "ms", threads)

        names = [n for n in names if n in self.asked]
        with self.victims(names, "graph", blocks, threads=threads) as started:
            for _ in range(self.rounds):
                for name, victim in started.items():
                    self.ask(victim, "dirty")
                    answer = self.ask(victim, "tick")
                    if answer is not None:
                        add("gap", name, answer["gap_ns"])
                    if name != "ours" or answer is None:
                        continue
                    add("pause", name, answer["pause_ns"])
                    self.ask(victim, "dirty")
                    answer = self.ask(victim, "fork")
                    add("pause", "fork", answer["took_ns"])
                    add("gap", "fork", answer["gap_ns"])
                    answer = self.ask(victim, "still")
                    add("gap", "nothing", answer["gap_ns"])
        self.show("pause", "graph", blocks, threads)
        self.show("gap", "graph", blocks, threads)

    def measure_write(self):
        for blocks in self.sizes(1e6, 1e7):
            with self.victims(["ours"], "graph", blocks) as started:
                for victim in started.values():
                    for _ in range(self.rounds):
                        for command in ("write", "hot", "copy"):
                            self.ask(victim, "dirty")
                            self.add_writes(command, blocks,
                                            self.ask(victim, command))
            for command in ("write", "hot", "copy"):
                self.show(command + ".factor", "graph", blocks)

    def add_writes(self, command, blocks, answer):
        if answer is None or not answer.get("during"):
            return
        for key, value, unit in (
                ("before", answer["before"], "writes/ms"),
                ("during", answer["during"], "writes/ms"),
                ("factor", answer["before"] / answer["during"], "x"),
                ("slow", answer["slow_ns"] / 1e6, "ms"),
                ("gap", answer["gap_ns"] / 1e6, "ms"),
                ("took", answer["took_ns"] / 1e6, "ms")):
            self.add(command + "." + key, "ours", "graph", blocks, value, unit)

    def measure_idle(self):
        rounds = "9" if self.quick else "21"
        done = subprocess.run(
            ["sh", os.path.join(peers.HERE, "idle.sh"), rounds, "5"],
            stdout=subprocess.PIPE, text=True,
            env=dict(os.environ, BUILD=self.build))
        self.tell(done.stdout.rstrip())
        for name, pattern in (("idle.median", r"median.*ratios: ([\d.]+)"),
                              ("idle.least", r"smallest:.* ([\d.]+)$")):
            found = re.search(pattern, done.stdout, re.M)
            if found:
                self.add(name, "ours", "malloc and free", 0,
                         float(found.group(1)), "x")

