#!/bin/sh
# Checks of a program in a memory group that is nearly full, while a thread of
# it writes all over its heap: the program lives, and each answer is right or
# says that nothing was checked, with numbers.
#
# The ways: outside and inside (-p from outside of the group, from inside),
# idle (from outside, and no thread writes: there is an answer), idlein (the
# same from inside: from 25 % of headroom on), read (-p --stop=read from
# outside), self1 and self2 (the program checks itself with one worker, with
# two), signal (with two, stopped by signal).
# CROWDED_RUNS, CROWDED_WAYS, CROWDED_MIB, CROWDED_MORE (percent of headroom)
# and CROWDED_WRITERS say how often, which, how large, how tight, and how many
# threads write.
set -u
. tests/support/script_setup.sh
command=$build/memunreachable
victim=$build/tests/live/victims/victim_crowded
runs=${CROWDED_RUNS:-1}
mib=${CROWDED_MIB:-128}
ways=${CROWDED_WAYS:-outside inside idle idlein read self1 self2 signal}
percents=${CROWDED_MORE:-2 10 50}

# A hierarchy of version 1 or 2 that groups of memory can be made in. Groups of
# runs that were killed are taken away.
find_hierarchy() {
	for root in /sys/fs/cgroup/memory /sys/fs/cgroup; do
		for group in "$root"/mu-crowded-*; do
			kill -0 "${group##*-}" 2>/dev/null || rmdir "$group"
		done 2>/dev/null
		group=$root/mu-crowded-$$
		mkdir "$group" 2>/dev/null || continue
		for files in "limit_in_bytes usage_in_bytes" "max current"; do
			limit_file=$group/memory.${files% *}
			usage_file=$group/memory.${files#* }
			[ -w "$limit_file" ] && return
		done
		rmdir "$group"
	done
	return 1
}

if ! find_hierarchy; then
	echo "SKIPPED: crowded: no memory group can be made here"
	exit 77
fi
no_limit=max
[ "${limit_file##*/}" = memory.max ] || no_limit=-1

is_empty() {
	rmdir "$group" 2>/dev/null || [ ! -d "$group" ]
}

leave() {
	# shellcheck disable=SC2086 # words
	kill_ours $pids
	await is_empty
	finish
}
trap leave EXIT

# In place of the shell: a separate process by "&" or in parentheses.
exec_in_group() {
	# shellcheck disable=SC2016 # the inner shell's
	exec sh -c 'echo $$ >"$0/cgroup.procs" && exec "$@"' "$group" "$@"
}

in_group() (
	exec_in_group "$@"
)

says() {
	grep -q "$1" "$work/out"
}

start() {
	rm -f "$work/in"
	mkfifo "$work/in"
	: >"$work/out"
	echo $no_limit >"$limit_file"
	MEMUNREACHABLE_OPTIONS=$given$1 \
		exec_in_group "$victim" "$mib" "$writers" <"$work/in" >"$work/out" 2>&1 &
	pid=$!
	pids=$pid
	exec 9>"$work/in"
	await says ready || fail "does not start"
	usage=$(cat "$usage_file")
	limit=$((usage * (100 + $2) / 100))
	echo $limit >"$limit_file"
}

answered() {
	[ "$(wc -l <"$work/out")" -ge 2 ] || ! kill -0 "$pid" 2>/dev/null
}

# How often the OOM killer was called in the group, by both versions.
count_kills() {
	sed -n 's/^oom_kill //p' "$group/memory.oom_control" \
		"$group/memory.events" 2>/dev/null
}

# Sets verdict: right, unchecked, wrong, dead.
check_self() {
	echo look >&9
	await answered || fail "no answer"
	sed -n 2p "$work/out" >"$work/said"
	case $(cat "$work/said") in
	"0 5 "*) verdict=right ;;
	0* | 1*) verdict=wrong ;;
	*MiB*) verdict=unchecked ;;
	*) verdict=wrong ;;
	esac
}

check_from() {
	"$@" --timeout=30 -p "$pid" >"$work/said" 2>&1
	status=$?
	case $status in
	23) verdict=wrong
		grep -q 'in 5 unreachable' "$work/said" && verdict=right ;;
	4) verdict=wrong # there was no room for the second look
		grep -q 'in 5 unreachable' "$work/said" &&
			grep -q 'another look failed: .*MiB left' "$work/said" &&
			verdict=right ;;
	3) verdict=wrong
		grep -q 'MiB left\|max-pause' "$work/said" && verdict=unchecked ;;
	*) verdict=wrong ;;
	esac
}

run_once() {
	writers=${CROWDED_WRITERS:-1}
	case $1 in
	outside) start '' "$2" && check_from "$command" ;;
	inside) start '' "$2" && check_from in_group "$command" ;;
	idle) writers=0 && start '' "$2" && check_from "$command" --max-pause=9s ;;
	idlein) writers=0 && start '' "$2" &&
		check_from in_group "$command" --max-pause=9s ;;
	read) start '' "$2" && check_from "$command" --stop=read ;;
	self1) start workers=1 "$2" && check_self ;;
	self2) start workers=2 "$2" && check_self ;;
	signal) start workers=2:stop=signal "$2" && check_self ;;
	esac
	sleep 0.05
	echo $no_limit >"$limit_file"
	exec 9>&-
	wait "$pid" || verdict=dead
	says '^unharmed' || verdict=dead
	pids=
}

format='%-8s %5s %6s %10s %6s %5s %6s\n'
# shellcheck disable=SC2059 # a format
printf "$format" way more right unchecked wrong dead killer
for way in $ways; do
	for more in $percents; do
		right=0 unchecked=0 wrong=0 dead=0 kills=$(count_kills)
		for _ in $(seq "$runs"); do
			verdict=
			run_once "$way" "$more"
			eval "$verdict=\$(($verdict + 1))"
			[ $verdict = dead ] || [ $verdict = wrong ] &&
				head -c 300 "$work/said" | head -n 3
		done
		# shellcheck disable=SC2059
		printf "$format" "$way" "$more%" $right $unchecked $wrong \
			$dead $(($(count_kills) - kills))
		name="$way at $more %"
		[ $dead -eq 0 ] || fail "$dead of $runs were killed"
		[ $wrong -eq 0 ] || fail "$wrong of $runs answers are wrong"
		[ "$way" != idle ] || [ $unchecked -eq 0 ] ||
			fail "$unchecked of $runs were not checked"
		[ "$way" != idlein ] || [ "$more" -lt 25 ] ||
			[ $unchecked -eq 0 ] ||
			fail "$unchecked of $runs were not checked"
	done
done

# No copy is begun that could be late: no thread may run before it is there.
if [ -z "${CROWDED_WAYS:-}" ]; then
	name='little memory and time'
	mib=300
	writers=0
	start '' 20
	"$command" --stop=fork --max-pause=40ms -p "$pid" >"$work/said" 2>&1
	status=$?
	if [ $status -ne 3 ] ||
		! grep -q 'to copy process .* would stop it for about' "$work/said"; then
		fail "status $status: $(cat "$work/said")"
	fi
	echo $no_limit >"$limit_file"
	"$command" --stop=fork --max-pause=40ms -p "$pid" >"$work/said" 2>&1
	status=$?
	[ $status -eq 23 ] || grep -q 'max-pause' "$work/said" ||
		fail "status $status: $(cat "$work/said")"
	exec 9>&-
	wait "$pid" || fail "it was killed"
	pids=

	# The kernel kills the command of memunreachable, and frees its memory
	# while it ends: in the same group memunreachable has no room until then.
	name='killed for memory'
	cat >"$work/greedy.c" <<'END'
#include <stdlib.h>
#include "tests/support/hide.h"
static __attribute__((noinline)) void lose(void)
{
	uintptr_t hidden = mu_hide(malloc(24));

	__asm__ volatile("" : : "r"(hidden));
}
int main(void)
{
	static void **last;
	void **more;
	int i;

	for (i = 0; i < 5; i++)
		lose();
	scrub_stack();
	for (i = 0; i < 1000; i++) {
		more = malloc(1 << 20);
		memset(more, 1, 1 << 20);
		*more = last;
		last = more;
	}
	return 0;
}
END
	${CC:-cc} -O1 -I. -o "$work/greedy" "$work/greedy.c" || fail "no compiler"
	echo $((60 << 20)) >"$limit_file"
	(in_group "$command" -- "$work/greedy" 2>"$work/said") 2>/dev/null
	status=$?
	[ $status -eq 137 ] || fail "from inside: status $status"
	grep -q 'in 5 allocations unreachable\|not checked: out of memory' \
		"$work/said" || fail "from inside: $(cat "$work/said")"
	# On a busy machine the kernel may free the memory, 2 s after the kill,
	# before it is read (OOM_REAPER_DELAY in mm/oom_kill.c).
	i=0
	while [ $i -lt 5 ]; do
		# shellcheck disable=SC2016 # the inner shell's
		("$command" -- sh -c \
			'echo $$ >"$0/cgroup.procs" && exec "$1"' \
			"$group" "$work/greedy" 2>"$work/said") 2>/dev/null
		status=$?
		[ $status -eq 137 ] || fail "from outside: status $status"
		grep -q 'not checked: out of memory' "$work/said" || break
		i=$((i + 1))
	done
	grep -q 'in 5 allocations unreachable' "$work/said" ||
		fail "from outside: $(cat "$work/said")"
fi
[ $failures -eq 0 ]
