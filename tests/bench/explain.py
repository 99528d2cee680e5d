"""What explaining costs beside a check: types of all blocks, holders, paths."""

import os
import subprocess
import tempfile
import time

import peers

WAYS = [("check", []), ("in_use", ["--in-use"]),
        ("retained", ["--retained"]), ("why", ["--why=1:Item"])]


class Explain:
    """What measure.Bench has of these."""

    def explain_once(self, pid, options):
        """Milliseconds, and KiB of the largest process; None: it failed."""
        command = [os.path.join(self.build, "memunreachable"), "-q",
                   "--by=block", "-p", str(pid)] + options
        begin = time.monotonic()
        with subprocess.Popen(command, stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL) as run:
            _, status, used = os.wait4(run.pid, 0)
            run.returncode = os.waitstatus_to_exitcode(status)
        took = (time.monotonic() - begin) * 1e3
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
                self.explain_program(program, int(blocks))

    def explain_program(self, program, blocks):
        with subprocess.Popen([program, str(blocks)], stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE, text=True) as victim:
            victim.stdout.readline()
            for _ in range(self.rounds):
                for way, options in WAYS:
                    answer = self.explain_once(victim.pid, options)
                    if answer is None:
                        continue
                    self.add("explain." + way, "ours", "map", blocks,
                             answer[0], "ms")
                    self.add("explain." + way + ".memory", "ours", "map",
                             blocks, answer[1], "KiB")
            victim.stdin.close()
        self.tell("  explain map %d" % blocks)
