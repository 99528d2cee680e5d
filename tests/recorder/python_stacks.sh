#!/bin/sh
# backtrace_python: stacks end with the functions and lines of Python code, as
# Python itself shows them; in processes, saved looks and the recorder's lists.
# PYTHONS="PATH..." chooses interpreters.
set -u
. tests/support/command/command.sh
program=tests/recorder/python_stacks.py
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

play() {
	name=$1
	hold env LD_PRELOAD="$recorder" PYTHONMALLOC=malloc PYTHONUTF8=1 \
		LIBC_DEBUG_MALLOC_OPTIONS='backtrace=48 backtrace_python' \
		"$1" "$program"
	"$command" -q --by=block --limit=5000 --format=json \
		"--save=$work/look" -p "$pid" >"$work/report"
	compare "$work/report"
	"$command" -q --by=block --limit=5000 --format=json \
		"$work/look" >"$work/saved"
	compare "$work/saved"
	let_go
}

for python in ${PYTHONS:-/usr/bin/python3}; do
	play "$python"
done
[ $failures -eq 0 ]
