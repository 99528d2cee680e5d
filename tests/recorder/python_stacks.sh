#!/bin/sh
# backtrace_python: stacks end with the functions and lines of Python code, as
# Python itself shows them; in processes, saved looks and the recorder's lists.
# PYTHONS="PATH..." chooses interpreters.
set -u
. tests/support/command/command.sh
program=tests/recorder/python_stacks.py
no_ptrace=$build/tests/support/stop/no_ptrace
unset LIBC_DEBUG_MALLOC_OPTIONS

# compare REPORT: the stacks in it are those that the program has printed.
compare() {
	python3 - "$said" "$1" <<'END' >"$work/compared"
import json, os, sys
said = open(sys.argv[1], errors='surrogateescape').readlines()[0]
expected = json.loads(said)
leaks = json.load(open(sys.argv[2]))['leaks']
right = 0
for leak in leaks:
    frames = expected.get(str(leak['size']))
    if frames is None:
        continue
    seen = [[f['function'], f['file'], f['line']]
        for f in leak['frames'] if f['pc'] is None]
    wanted = [[name, os.fsencode(file).decode(errors='replace'), line]
        for name, file, line in frames][:len(seen)]
    calls = len(leak['frames']) - len(seen)
    if seen == wanted and (len(seen) == len(frames) or
            len(leak['frames']) == 48):
        right += 1
        continue
    print('size', leak['size'], 'calls', calls, 'wanted', wanted, 'seen', seen)
print('right:', right, 'of', len(expected))
END
	right=$(sed -n 's/^right: \([0-9]*\) of .*/\1/p' "$work/compared")
	like "$work/compared" '^right: [0-9]+ of [0-9]+$'
	has_no "$work/compared" "size "
	# Old words may refer to some.
	[ "${right:-0}" -ge 40 ] || fail "only $right stacks were compared"
}

# play PYTHON [WRAPPER...]
play() {
	name="$*"
	python=$1
	shift
	hold env LD_PRELOAD="$recorder" PYTHONMALLOC=malloc PYTHONUTF8=1 \
		LIBC_DEBUG_MALLOC_OPTIONS='backtrace=48 backtrace_python' \
		"$@" "$python" "$program"
	"$command" -q --by=block --limit=5000 --format=json \
		"--save=$work/look" -p "$pid" >"$work/report"
	compare "$work/report"
	"$command" -q --by=block --limit=5000 --format=json \
		"$work/look" >"$work/saved"
	compare "$work/saved"
	let_go
}

# The state of a thread that is in C while the interpreter ends is freed.
cat >"$work/churn.c" <<'END'
#include <stdlib.h>
void churn(void);
void
churn(void)
{
	for (;;)
		free((void *volatile){ malloc(100) });
}
END
cat >"$work/ends.py" <<'END'
import ctypes
import sys
import threading
import time

churn = ctypes.CDLL(sys.argv[1]).churn
for i in range(2):
    threading.Thread(target=churn, daemon=True).start()
time.sleep(0.2)
END
made "$work/churn.so" "${CC:-cc}" -O1 -fPIC -shared "$work/churn.c"

ends() {
	name="$1, ends"
	for options in '' fill_on_free; do
		env LD_PRELOAD="$recorder" PYTHONMALLOC=malloc \
			LIBC_DEBUG_MALLOC_OPTIONS="backtrace backtrace_python $options" \
			timeout 60 "$1" "$work/ends.py" "$work/churn.so"
		status=$?
		[ $status -eq 0 ] || fail "status $status with $options"
	done
}

# Under a filter a file of the process is open while a stack is read: no child of
# fork() has it, and none is left.
cat >"$work/forks.py" <<'END'
import ctypes
import os
import sys
import threading

churn = ctypes.CDLL(sys.argv[1]).churn
for i in range(3):
    threading.Thread(target=churn, daemon=True).start()
for i in range(60):
    child = os.fork()
    if child == 0:
        files = [os.readlink('/proc/self/fd/' + name)
                 for name in os.listdir('/proc/self/fd')
                 if os.path.exists('/proc/self/fd/' + name)]
        os._exit(any(name.endswith('/mem') for name in files))
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0, i
os._exit(0)
END

forks() {
	name="$1, forks"
	"$1" -c 'import os; os.waitstatus_to_exitcode' 2>/dev/null || return
	env LD_PRELOAD="$recorder" PYTHONMALLOC=malloc \
		LIBC_DEBUG_MALLOC_OPTIONS="backtrace backtrace_python" \
		"$no_ptrace" timeout 200 "$1" "$work/forks.py" "$work/churn.so"
	status=$?
	[ $status -eq 0 ] || fail "status $status"
}

# What a baseline knows of one function is not what another one loses.
cat >"$work/base.py" <<'END'
import ctypes
import sys

malloc = ctypes.CDLL(None).malloc
malloc.restype = None
malloc.argtypes = [ctypes.c_size_t]


def known():
    malloc(3000)


def another():
    malloc(3000)


for i in range(20):
    known()
    if len(sys.argv) > 1:
        another()
for i in range(100):
    malloc(100)
END

known() {
	name="$1, baseline"
	PYTHONMALLOC=malloc "$command" -q --backtrace \
		"--write-baseline=$work/baseline" -- "$1" "$work/base.py" \
		>"$work/out" 2>&1
	PYTHONMALLOC=malloc "$command" -q --backtrace \
		"--baseline=$work/baseline" -- "$1" "$work/base.py" more \
		>"$work/out" 2>&1
	status=$?
	[ $status -eq 23 ] || fail "status $status, not 23"
	like "$work/out" '#[0-9]+  another '
	unlike "$work/out" '#[0-9]+  known '
}

# In an interpreter within another one a call has that one's lines, or none.
cat >"$work/within.py" <<'END'
import sys
import threading

inside = '''
import ctypes

free, held = ctypes.CDLL(None), ctypes.PyDLL(None)
for one in free, held:
    one.malloc.restype = None
    one.malloc.argtypes = [ctypes.c_size_t]


def inner():
    for i in range(20):
        free.malloc(7000)
        held.malloc(7016)


inner()
for i in range(300):  # registers and stacks have no old addresses
    held.malloc(100)
'''


def run(code):
    try:
        from _testcapi import run_in_subinterp
    except ImportError:
        import _xxsubinterpreters
        one = _xxsubinterpreters.create()
        _xxsubinterpreters.run_string(one, code)
        _xxsubinterpreters.destroy(one)
    else:
        assert run_in_subinterp(code) == 0


def outer():
    run(inside)


outer()
thread = threading.Thread(target=outer)
thread.start()
thread.join()
exec(inside.replace('inner', 'after').replace('70', '90'))
print('\nready', flush=True)
sys.stdin.read()
END

within() {
	name="$1, within"
	hold env LD_PRELOAD="$recorder" PYTHONMALLOC=malloc \
		LIBC_DEBUG_MALLOC_OPTIONS='backtrace=48 backtrace_python fill_on_alloc fill_on_free' \
		"$1" "$work/within.py"
	"$command" -q --by=block --limit=5000 --format=json -p "$pid" \
		>"$work/report"
	python3 - "$work/report" "$1" <<'END' >"$work/compared"
import json, re, sys
seen = {}
for leak in json.load(open(sys.argv[1]))['leaks']:
    names = [f['function'] for f in leak['frames'] if f['pc'] is None]
    seen.setdefault(leak['size'], set()).add(' '.join(names))
for size in 7000, 7016, 9000, 9016:
    print(size, *sorted(seen.get(size, ['not lost'])), sep=', ')
END
	has "$work/compared" '7016, inner <module>'
	has "$work/compared" '9000, after <module> <module>'
	has "$work/compared" '9016, after <module> <module>'
	like "$work/compared" '^7000, (inner <module>)?$'
	let_go
}

for python in ${PYTHONS:-/usr/bin/python3}; do
	play "$python"
	# A filter that kills for process_vm_readv().
	play "$python" "$no_ptrace" -k
	ends "$python"
	forks "$python"
	known "$python"
	within "$python"
done
[ $failures -eq 0 ]
