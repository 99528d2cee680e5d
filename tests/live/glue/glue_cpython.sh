#!/bin/sh
# lib/glue/python/cpython.supp: locks that CPython loses in each child of fork(),
# and nothing else.
set -u
. tests/support/command/command.sh
rules=lib/glue/python/cpython.supp

cat >"$work/forks.py" <<'END'
import ctypes
import os
import sys

pid = os.fork()
if pid == 0:
    if len(sys.argv) > 1:
        libc = ctypes.CDLL(None)
        libc.malloc.restype = ctypes.c_void_p
        for _ in range(8):
            libc.memset(ctypes.c_void_p(libc.malloc(36)), 1, 36)
    sys.exit(0)
os.waitpid(pid, 0)
END
python=$(command -v python3) || skip 'no python3'
run_python() {
	wanted=$1
	shift
	run "$wanted" --children --backtrace --backtrace-size=25-64 "$@"
}

(exec "$command" --children --backtrace --backtrace-size=25-64 -- \
	"$python" "$work/forks.py" >"$out" 2>"$err")
grep -q PyThread_allocate_lock "$err" ||
	skip 'this Python does not lose its locks in a child of fork()'
run_python 0 --suppressions=$rules -- "$python" "$work/forks.py"
like "$err" 'CPython: locks of the parent'
run_python 23 --suppressions=$rules -- "$python" "$work/forks.py" more
like "$err" '[0-9]* bytes in [1-8] block'
unlike "$err" 'PyThread_allocate_lock'
finish
