#!/usr/bin/env python3
"""A command behind memunreachable on a terminal: ^C reaches it once, ^Z stops
both and the shell sees it, and they go on together.

terminal_play.py MEMUNREACHABLE: exit status 0 if so, 77 where no terminal can
be made, otherwise words."""
import os
import pty
import select
import signal
import sys
import time

PATIENCE = 60
PROGRAM = """
import signal, sys, time
count = 0
def interrupted(*_):
    global count
    count += 1
    print("INT %d" % count, flush=True)
    if count == 2:
        sys.exit(5)
signal.signal(signal.SIGINT, interrupted)
signal.signal(signal.SIGCONT, lambda *_: print("CONT", flush=True))
print("UP", flush=True)
while True:
    time.sleep(0.1)
"""


def shell(report, arguments):
    """Do what a shell does: run a job in the foreground, report its stops."""
    signal.signal(signal.SIGTTOU, signal.SIG_IGN)
    job = os.fork()
    if job == 0:
        os.setpgid(0, 0)
        os.tcsetpgrp(0, os.getpgrp())
        signal.signal(signal.SIGTTOU, signal.SIG_DFL)
        os.execv(arguments[0], arguments)
    while True:
        status = os.waitpid(job, os.WUNTRACED)[1]
        if not os.WIFSTOPPED(status):
            os.write(report, b"ended %d\n" % os.WEXITSTATUS(status))
            os._exit(0)
        os.write(report, b"stopped\n")
        os.killpg(job, signal.SIGCONT)


def await_words(fd, words, seen=b""):
    end = time.monotonic() + PATIENCE
    while words not in seen:
        if time.monotonic() > end:
            sys.exit(f"no {words} in {seen}")
        if select.select([fd], [], [], 1)[0]:
            try:
                seen += os.read(fd, 4096)
            except OSError:  # the terminal's other end is closed
                sys.exit(f"no {words} in {seen}")
    return seen


told, report = os.pipe()
try:
    child, terminal = pty.fork()
except OSError:  # a container without /dev/pts
    sys.exit(77)
if child == 0:
    shell(report, [sys.argv[1], "--", sys.executable, "-c", PROGRAM])
await_words(terminal, b"UP\r\n")
os.write(terminal, b"\x03")
await_words(terminal, b"INT 1\r\n")
time.sleep(0.5)
if select.select([terminal], [], [], 0)[0]:
    sys.exit(f"more than one SIGINT: {os.read(terminal, 4096)}")
os.write(terminal, b"\x1a")
await_words(told, b"stopped\n")
await_words(terminal, b"CONT")
os.write(terminal, b"\x03")
await_words(terminal, b"INT 2")
await_words(told, b"ended 5\n")
os.waitpid(child, 0)
