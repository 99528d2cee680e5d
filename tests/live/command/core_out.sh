#!/bin/sh
# --core-out: a core of a program that runs on. gdb finds the threads and their
# stacks in it, and --core gives the same answer as the process.
set -u
. tests/support/script_setup.sh
command=$build/memunreachable
core=$work/core

# What is reported, without how the look was made, and the names of threads, which
# cores do not have.
report() {
	"$command" -q "$@" 2>&1 | sed -E -e '/^Process /d' -e '/^Core of /d' \
	    -e "s/(thread [0-9]+) '[^']*'/\\1/"
}

# same CORE WORD...: the answer, and what holds the heap
same() {
	file=$1
	shift
	[ "$(stat -c %a "$file")" = 600 ] || fail "mode $(stat -c %a "$file")"
	for options in --by=stack --by=block --retained; do
		name="$file $options"
		report $options "$@" >"$work/process"
		report $options --core "$file" >"$work/saved"
		cmp -s "$work/process" "$work/saved" ||
			fail "$(diff "$work/process" "$work/saved" |
			    head -n 20)"
	done
}

dump() {
	"$command" -q "$@" >"$work/answer" 2>&1
	status=$?
	[ "$status" -eq 23 ] || fail "$*: $status: $(cat "$work/answer")"
}

gdb_sees() {
	if ! command -v gdb >/dev/null; then
		echo "SKIPPED: no gdb"
		return
	fi
	name=gdb
	gdb -nx -batch -ex 'info threads' -ex 'thread apply all bt' \
	    -ex 'print texts[3]' "$work/program" "$core" >"$work/answer" 2>&1
	[ "$(grep -c 'in wait_for_end ()' "$work/answer")" -ge 3 ] ||
		fail "stacks: $(cat "$work/answer")"
	like "$work/answer" "^#[0-9]+ .* main \(\)"
	like "$work/answer" "^#[0-9]+ .* body \("
	has "$work/answer" '"a text that is held"'
	has_no "$work/answer" "Failed to read"
}

cc -g -O0 -I. tests/live/command/looks/threads.c -o "$work/program" -pthread ||
	exit 1
hold "$work/program"
dump -p "$pid" --core-out "$core"
same "$core" -p "$pid"
gdb_sees
if command -v zstd >/dev/null; then
	dump -p "$pid" --core-out "$core.zst"
	same "$core.zst" -p "$pid"
	zstd -dqc "$core.zst" >"$work/plain"
	[ "$(stat -c %s "$work/plain")" = "$(stat -c %s "$core")" ] ||
		fail "it unpacks to another size"
else
	echo "SKIPPED: no zstd"
fi

# What only the kernel holds is in no core of others.
cc -g -O0 -I. tests/live/command/looks/kernel.c -o "$work/kernel" -pthread ||
	exit 1
let_go
hold "$work/kernel"
dump -p "$pid" --core-out "$core"
has "$work/answer" "in 10 unreachable allocations"
same "$core" -p "$pid"
dump --core "$core"
let_go
hold "$work/program"

# What a look may have missed is in its core, which does not show it; if nothing is
# lost a look does not ask.
cc -g -O0 -I. tests/live/command/looks/asleep.c -o "$work/asleep" -pthread ||
	exit 1
let_go
hold "$work/asleep"
# doubt CORE STATUS WORDS OPTION...: of the look that writes it; it says WORDS.
doubt() {
	name="doubt $*"
	file=$1 expected=$2 words=$3
	shift 3
	"$command" -q -p "$pid" --core-out "$file" "$@" >"$work/answer" 2>&1
	[ $? -eq "$expected" ] || fail "status of the process"
	"$command" -q --core "$file" >"$work/answer" 2>&1
	[ $? -eq 4 ] || fail "status of the core"
	like "$work/answer" "$words"
}
doubt "$core" 4 "^  Partial: .*\(state D\).* may be among these$"
doubt "$core.zst" 4 "^  Partial: .*\(state D\).* may be among these$"
doubt "$core" 0 "^  Partial: the look that wrote this core lost nothing" \
    --use-unaligned
"$command" -q --core "$core" --use-unaligned >"$work/answer" 2>&1 ||
	fail "status with the same option"
let_go
hold "$work/program"

name=unwritten
cp "$core" "$work/kept"
"$command" -q -p "$pid" --core-out "$work/none/core" >"$work/answer" 2>&1
[ $? -eq 3 ] || fail "status where there is no folder"
let_go
"$command" -q -p "$pid" --core-out "$core" >"$work/answer" 2>&1
[ $? -eq 3 ] || fail "status of no process"
cmp -s "$core" "$work/kept" || fail "the core was replaced"

name="a command"
"$command" -q -o "$work/end" --core-out "$core" -- "$work/program" </dev/null \
    >"$work/answer" 2>&1
grep "1000 bytes" "$work/end" >"$work/lost"
report --core "$core" >"$work/answer"
has "$work/answer" "10 × 1000 bytes"
[ -s "$work/lost" ] || fail "nothing was lost"

# Memory that the program has made inaccessible is in it, and code of which the file
# is gone.
echo 'int answer(void) { return 42; }' >"$work/gone.c"
cc -shared -fPIC "$work/gone.c" -o "$work/libgone.so" &&
	cc -g -O0 -I. tests/live/command/looks/closed.c -o "$work/closed" \
	    -Wl,--no-as-needed "$work/libgone.so" || exit 1
hold "$work/closed"
rm "$work/libgone.so"
dump -p "$pid" --core-out "$core"
has "$work/answer" "in 10 unreachable allocations"
same "$core" -p "$pid"
let_go

# All files are put in their places, or none is left, whichever cannot be made.
name="several files"
mkdir "$work/files"
three() {
	"$command" -q -o "$work/end" --write-baseline "$work/$1/baseline" \
	    --core-out "$work/$2/core" --save "$work/$3/look" -- true \
	    >"$work/answer" 2>&1
}
for folders in "none files files" "files none files" "files files none"; do
	# shellcheck disable=SC2086 # words
	three $folders
	[ $? -eq 3 ] || fail "$folders: status"
	[ -z "$(ls -A "$work/files")" ] || fail "$folders: $(ls -A "$work/files")"
done
three files files files || fail "status $?"
[ "$(echo "$work"/files/*)" = \
    "$work/files/baseline $work/files/core $work/files/look" ] ||
	fail "$(ls -A "$work/files")"

if made "$work/program" g++ -std=c++17 -g -O1 -I. \
    tests/live/command/looks/program.cc 2>"$work/errors"; then
	hold "$work/program"
	dump -p "$pid" --core-out "$core"
	same "$core" -p "$pid"
	let_go
fi

[ $failures -eq 0 ]
