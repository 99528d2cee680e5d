#!/bin/sh
# A program without knowledge of recorders loses two blocks: each kind of
# report says who allocated them, by file and line.
set -u
. tests/support/script_setup.sh
source=tests/recorder/join_leaky.c
program=$build/tests/recorder/join_leaky
command=$build/memunreachable
unset LD_PRELOAD LIBC_DEBUG_MALLOC_OPTIONS MEMUNREACHABLE_MALLOC_DEBUG
[ -e "$recorder" ] || {
	echo "SKIPPED: join_leaky: no recorder"
	exit 77
}

# Of the entry whose size is $2 in the report $1, frame $3, by name and mark.
frame() {
	awk -v size="$2" '/bytes unreachable at/ { on = $1 == size }
	    on' "$1" >"$work/entry"
	like "$work/entry" "#$3  pc .*join_leaky \($4\) .*join_leaky.c:$(line $source "$5")$"
}

check() {
	for size in "$2" "$3"; do
		frame "$1" "$size" 00 make MALLOC
	done
	frame "$1" "$2" 01 lose_small SMALL
	frame "$1" "$3" 01 lose_large LARGE
	unlike "$1" 'no stacks|libmemunreachable-malloc-debug'
	like "$1" "in 2 (unreachable )?allocations"
}

name='-- COMMAND'
"$command" --backtrace -o "$work/report" -- "$program" 2>"$work/err"
[ $? -eq 23 ] || fail "status: $(cat "$work/err")"
check "$work/report" 24 5000

name='-- COMMAND, sizes'
"$command" --backtrace=1 --backtrace-size=1000-6000 -- "$program" \
	2>"$work/report"
frame "$work/report" 5000 00 make MALLOC
unlike "$work/report" '#01'
[ "$(grep -c '#00' "$work/report")" -eq 1 ] || fail "not one stack"

name='-- COMMAND, no stacks'
"$command" -o "$work/report" -- "$program"
like "$work/report" 'memunreachable --backtrace --backtrace-size=1-5000 -- COM'
name='-- COMMAND, the sizes that it ended with'
"$command" --backtrace --backtrace-size=1-5000 -o "$work/report" -- "$program"
check "$work/report" 24 5000

name='environment'
LIBC_DEBUG_MALLOC_OPTIONS='backtrace=2 leak_track' "$command" \
	--backtrace=1 -- "$program" 2>"$work/report"
like "$work/report" 'options of the environment: backtrace=2 leak_track$'
frame "$work/report" 24 00 make MALLOC
unlike "$work/report" '#01'

name='within'
LD_PRELOAD=$recorder:$build/libmemunreachable.so \
	LIBC_DEBUG_MALLOC_OPTIONS=backtrace \
	MEMUNREACHABLE_OPTIONS=${given}at_exit=1 "$program" 2>"$work/report"
[ $? -eq 23 ] || fail "status"
like "$work/report" "#00  pc 0000[0-9a-f]*  $program"
like "$work/report" '#0.  pc .*/libc[.-][^ /]* \(__libc_start_main\+[0-9]+\)$'
name='within, no recorder'
LD_PRELOAD=$build/libmemunreachable.so \
	MEMUNREACHABLE_OPTIONS=${given}at_exit=1 "$program" 2>"$work/report"
like "$work/report" "LIBC_DEBUG_MALLOC_OPTIONS='backtrace backtrace_min_size=1"

is_ready() {
	grep -q ready "$work/out"
}

# Guards around blocks, and freed ones that are held back, change nothing.
for options in backtrace 'backtrace guard free_track'; do
	rm -f "$work/in" "$work/out"
	mkfifo "$work/in"
	LD_PRELOAD=$recorder LIBC_DEBUG_MALLOC_OPTIONS=$options \
		"$program" wait <"$work/in" >"$work/out" 2>"$work/err" &
	pid=$!
	pids="$pids $pid"
	exec 9>"$work/in"
	await is_ready || fail "not ready"
	for how in $(ways_to_look); do
		name="-p, $how, $options"
		"$command" -q "--stop=$how" -p "$pid" >"$work/report"
		[ $? -eq 23 ] || fail "status"
		check "$work/report" 24 5000
	done
	name="core, $options"
	if command -v gcore >/dev/null &&
	    gcore -o "$work/core" "$pid" >/dev/null 2>&1; then
		"$command" -q --core "$work/core.$pid" >"$work/report"
		check "$work/report" 24 5000
	else
		echo "SKIPPED: join_leaky: no gcore"
	fi
	exec 9>&-
	wait "$pid"
done
# The recorder's bounds of all addresses, multiples of 32 MiB, lie in the block.
name='a block of 64 MiB'
cat >"$work/huge.c" <<'END'
#include <stdint.h>
#include <stdlib.h>
int main(void)
{
	static volatile uintptr_t hidden;

	hidden = ~(uintptr_t)malloc(64 << 20);
	return hidden == 0;
}
END
if ${CC:-cc} -O0 -o "$work/huge" "$work/huge.c"; then
	"$command" --use-registers=0 --backtrace -o "$work/report" -- \
		"$work/huge"
	like "$work/report" 'in 1 unreachable allocation$'
else
	fail "does not compile"
fi
[ "$failures" -eq 0 ]
