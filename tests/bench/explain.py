"""What explaining costs beside a check: types of all blocks, holders, paths."""

import os
import subprocess
import tempfile
import time

import peers

BLOCK = ["--by=block"]
SHAPES = {
    "map": [("check", BLOCK), ("in_use", BLOCK + ["--in-use"]),
            ("retained", BLOCK + ["--retained"]),
            ("why", BLOCK + ["--why=1:Item"])],
    "lost": [("check", BLOCK), ("groups", [])],
}


class Explain:
    """What measure.Bench has of these."""

    def explain_once(self, pid, options):
        """Milliseconds of CPU time, and KiB of the largest process; None: it
        failed."""
        command = [os.path.join(self.build, "memunreachable"), "-q",
                   "-p", str(pid)] + options
        with subprocess.Popen(command, stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL) as run:
            _, status, used = os.wait4(run.pid, 0)
            run.returncode = os.waitstatus_to_exitcode(status)
        took = (used.ru_utime + used.ru_stime) * 1e3
        return (took, used.ru_maxrss) if run.returncode in (0, 23) else None

    def measure_explain(self):
        with tempfile.TemporaryDirectory() as folder:
            program = os.path.join(folder, "explained")
            source = os.path.join(peers.HERE, "explained.cc")
            built = subprocess.run(["g++", "-O2", "-g", "-o", program, source])
            if built.returncode != 0:
                self.tell("SKIPPED: explain: no g++")
                return
            for blocks in self.sizes(1e5, 1e6, 1e7):
                for shape in SHAPES:
                    self.explain_program(program, shape, int(blocks))

    def explain_program(self, program, shape, blocks):
        with subprocess.Popen([program, str(blocks), shape],
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                              text=True) as victim:
            victim.stdout.readline()
            for _ in range(self.rounds):
                for way, options in SHAPES[shape]:
                    answer = self.explain_once(victim.pid, options)
                    if answer is None:
                        self.warn("explain: %s of %d blocks (%s) failed" %
                                  (way, blocks, shape))
                        continue
                    self.add("explain." + way, "ours", shape, blocks,
                             answer[0], "ms")
                    self.add("explain." + way + ".memory", "ours", shape,
                             blocks, answer[1], "KiB")
            victim.stdin.close()
        self.tell("  explain %s %d" % (shape, blocks))
