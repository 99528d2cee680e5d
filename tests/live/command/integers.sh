#!/bin/sh
# Addresses that an interpreter keeps as integers: what ctypes returns as an int
# is in use, what nothing keeps is lost. PYTHONS="PATH..." chooses interpreters.
set -u
. tests/support/command/command.sh

cat >"$work/program.py" <<'END'
import ctypes
import sys

malloc = ctypes.CDLL(None).malloc
malloc.restype = ctypes.c_void_p
malloc.argtypes = [ctypes.c_size_t]


class Handle(int):
    pass


def lose():
    for i in range(20):
        malloc(3000)


handles = [malloc(1000 + i) for i in range(50)]
derived = Handle(malloc(5000))
outer = malloc(6000)
inner = malloc(7000)
ctypes.memmove(outer, ctypes.byref(ctypes.c_void_p(inner)), 8)
inner = None
lose()
print("ready handles", *map(hex, handles[20:26]), flush=True)
sys.stdin.read()
END

# PYTHON ALLOCATOR
play() {
	name="$1, $2"
	hold env PYTHONMALLOC="$2" "$1" "$work/program.py"
	"$command" -q --by=block --limit=1000 --format=json \
	    "--save=$work/look" -p "$pid" >"$work/report"
	python3 - "$work/report" >"$work/lost" <<'END'
import json, sys
report = json.load(open(sys.argv[1]))
sizes = [leak["size"] for leak in report["leaks"]]
print(report["status"], sum(2990 < size < 3100 for size in sizes),
    sum(990 < size < 1100 or size > 4990 for size in sizes))
END
	read -r status lost held <"$work/lost"
	[ "$status" = complete ] || fail "status $status"
	# Old words may refer to some.
	[ "$lost" -ge 10 ] || fail "only $lost of 20 are lost"
	[ "$held" -eq 0 ] || fail "$held are lost that are in use"
	"$command" -q "$work/look" >"$work/saved"
	has "$work/saved" "bytes in $lost unreachable allocation"
	handles=$(sed "s/.*handles //" "$said")
	for handle in $handles; do
		"$command" -q "--why=$handle" -p "$pid" >"$work/why"
		! grep -q -e '-> int, block of' -e 'memory at' "$work/why" || break
	done
	# An old word leads to this or that one, too.
	if [ "$2" = malloc ]; then
		has "$work/why" '-> int, block of'
	else
		like "$work/why" 'memory at .* 10[0-9][0-9] bytes'
	fi
	let_go
}

for python in ${PYTHONS:-$(command -v python3)}; do
	for allocator in pymalloc malloc; do
		play "$python" "$allocator"
	done
done

if command -v racket >/dev/null; then
	name=racket
	cat >"$work/program.rkt" <<'END'
#lang racket/base
(displayln "ready")
(flush-output)
(read-line)
END
	hold racket "$work/program.rkt"
	"$command" -q --by=block --contents -p "$pid" >"$work/report"
	# Its only leak is the name of the folder in which it began.
	unlike "$work/report" "referencing|bytes in ([2-9]|[0-9]{2,}) unreach"
	let_go
else
	echo "SKIPPED: no racket"
fi
[ $failures -eq 0 ]
