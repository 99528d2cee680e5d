# Run a program under gdb, every process that it starts traced as well, and
# leave with its exit status; 126: gdb lost its way. For under_gdb.sh:
#	gdb -batch -nx -x under_gdb.py --args PROGRAM [ARG]...
# The tests send signals of every kind; that of a pass is none that gdb stops
# at by itself, which is what "nostop" must not hide: it is looked at first.
import os

import gdb

STATUS_KILLED = 125
STATUS_LOST = 126
MOST_FAILURES = 1000
ended = None


def on_exited(event):
    global ended
    if event.inferior.num == 1:
        ended = getattr(event, "exit_code", STATUS_KILLED)


for name in ("SIGURG", "SIGWINCH"):
    stops = gdb.execute("info signals " + name, to_string=True).split("\n")[1]
    if stops.split()[1:4] != ["No", "No", "Yes"]:
        print("gdb stops at " + stops)
        os._exit(STATUS_KILLED)
for setting in (
    "confirm off",
    "pagination off",
    "startup-with-shell off",
    "debug-file-directory /nonexistent",
    "print inferior-events off",
    "print thread-events off",
    "disable-randomization off",
    "detach-on-fork off",
    "schedule-multiple on",
    "follow-fork-mode parent",
):
    gdb.execute("set " + setting)
gdb.execute("handle all nostop noprint pass", to_string=True)
gdb.events.exited.connect(on_exited)
gdb.execute("run", to_string=True)
# The end of a child stops them all; who is dying just then cannot be let go on
# or selected, but a moment later. Now and then gdb does not find its way out.
failures = 0
while ended is None and failures < MOST_FAILURES:
    try:
        alive = [i.num for i in gdb.inferiors() if i.pid != 0]
        if gdb.selected_inferior().pid == 0:
            gdb.execute("inferior %d" % alive[failures % len(alive)])
        gdb.execute("continue")
        failures = 0
    except (gdb.error, IndexError, ZeroDivisionError):
        failures += 1
# Not by "quit", which has another status when it cannot kill one of them.
os._exit(STATUS_LOST if ended is None else ended)
