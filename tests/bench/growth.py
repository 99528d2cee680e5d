"""How the cost of our own passes grows, and where they spend it: sections that
read the log of a pass."""

import os
import re
import subprocess

from results import SHAPES

PHASES = [
    ("walk", "searching process", "searching done"),
    ("mark", "sweeping process", "sweeping done"),
    ("fold", "folding related", "folding done"),
]


class Growth:
    """What measure.Bench has of these; its records, victims and warnings."""

    def phases(self, victim, answer, what, shape, blocks, threads=0):
        """Where a logged pass of ours spent its time; its tables."""
        at = {}
        for now, line in victim.log:
            for phase, first, last in PHASES:
                if first in line:
                    at[phase] = now
                elif last in line and phase in at:
                    self.add(what + "." + phase, "ours", shape, blocks,
                             (now - at[phase]) / 1e6, "ms", threads)
            found = re.search(r"tables: (\d+) KiB", line)
            if found:
                self.add(what + ".tables", "ours", shape, blocks,
                         int(found.group(1)), "KiB", threads)
        self.add(what + ".span", "ours", shape, blocks,
                 victim.about["span"] / 1024, "KiB", threads)
        self.add(what, "ours", shape, blocks, answer["took_ns"] / 1e6, "ms",
                 threads)
        self.add(what + ".pause", "ours", shape, blocks,
                 answer["pause_ns"] / 1e6, "ms", threads)

    def logged(self, what, shape, blocks, label=None, rounds=None, **settings):
        """Passes of ours with its log read."""
        with self.victims(["ours"], shape, blocks, log=True,
                          **settings) as started:
            for victim in started.values():
                for _ in range(rounds or self.rounds):
                    answer = self.ask(victim, "check")
                    if answer is not None:
                        self.phases(victim, answer, what, label or shape,
                                    blocks, settings.get("threads", 0))
                self.tell("  %s %s %d" % (what, label or shape, blocks))

    def measure_memory(self):
        for blocks in self.sizes(1e6, 1e7):
            for shape in SHAPES:
                if blocks <= 1e6 or shape in ("graph", "wide"):
                    self.logged("memory", shape, blocks, rounds=1)
        for shape in ("shuffled", "cycle", "graph"):
            self.logged("memory", shape, min(1e6, self.most),
                        label=shape + ", all lost", rounds=1, lose_all=1)

    def measure_blocks(self):
        for blocks in self.sizes(1e5, 1e6, 1e7, 5e7):
            self.logged("blocks", "graph", blocks)

    def measure_edges(self):
        for edges in (2, 4, 8, 16):
            self.logged("edges", "graph", min(1e6, self.most),
                        label="graph, %d edges" % edges, edges=edges,
                        least=128)

    def measure_leaks(self):
        for shape in ("shuffled", "cycle", "graph"):
            for lost in (0, 1):
                self.logged("leaks", shape, min(1e6, self.most),
                            label=shape + (", all lost" if lost else ""),
                            lose_all=lost)

    def measure_threads(self):
        for threads in (0, 8, 64, 512, 1024):
            self.logged("threads", "graph", 1e5, threads=threads)

    def measure_mappings(self):
        for count in (0, 2000, 20000):
            self.logged("mappings", "graph", 1e5, mappings=count,
                        label="graph, %d mappings" % count)

    def measure_freed(self):
        for freed, label in enumerate(("full", "half freed in order",
                                       "half freed at random")):
            self.logged("freed", "list", min(2e6, self.most), freed=freed,
                        label="list, " + label)

    def has_workers(self):
        done = subprocess.run(
            ["/bin/true"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            text=True, env=dict(
                os.environ, MEMUNREACHABLE_OPTIONS="help=1",
                LD_PRELOAD=os.path.join(self.build, "libmemunreachable.so")))
        return "  workers " in done.stdout

    def measure_workers(self):
        if not self.has_workers():
            self.warn("left out: workers: the library has no such option")
            return
        names = ["ours:1", "ours:2", "ours:4"]
        options = {n: ["workers=" + n[-1]] for n in names}
        for shape, blocks in (("graph", 1e6), ("wide", 1e6), ("tree", 1e6),
                              ("graph", 1e7)):
            if blocks > self.most:
                continue
            few = names if blocks <= 1e6 else names[:2]
            with self.victims(few, shape, blocks, options=options,
                              log=True) as started:
                for _ in range(self.rounds):
                    for name, victim in started.items():
                        answer = self.ask(victim, "check")
                        if answer is not None:
                            self.phases(victim, answer,
                                        "workers" + name[-1], shape, blocks)
                self.compare(started, shape, blocks)

    def compare(self, started, shape, blocks):
        digests = {n: (self.ask(v, "digest") or {}).get("digest")
                   for n, v in started.items()}
        same = len(set(digests.values())) == 1
        if not same:
            self.warn("reports differ: %s %d: %s" % (shape, blocks, digests))
        self.add("workers.same", "ours", shape, blocks, int(same), "true")
