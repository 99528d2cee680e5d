#!/bin/sh
# A thread of a command ends the program by _exit(), _Exit() or quick_exit()
# while others are in malloc, or a signal ends it then: the program is checked as
# after exit() and ends with its status; where it cannot be checked it ends at
# once. TESTS_ROUNDS ends of each kind.
set -u
. tests/support/command/command.sh
. tests/support/command/silent_mount.sh
victim=$build/tests/live/victims/victim_exit_calls
LIBRARY=$build/libmemunreachable.so.0
runs=${TESTS_ROUNDS:-2}

# play STATUS END [ARG]: quickly enough that nothing waited for a deadline.
play() {
	wanted=$1
	end=$2
	shift 2
	begin=$(date +%s)
	run "$wanted" --unchecked=ok --timeout=60s -- "$victim" "$end" "$@"
	[ $(($(date +%s) - begin)) -lt 30 ] || fail "$end: it hung"
}

# lost IN END...: the block is found, all of the heap is judged.
lost() {
	inside=$1
	shift
	for end in "$@"; do
		i=0
		while [ $i -lt "$runs" ]; do
			play 23 "$end" leak
			has "$err" " 24 bytes in 1 allocation unreachable out of "
			has_no "$err" "partial"
			i=$((i + 1))
		done
	done
	inside=
}

# A filter of the program, which could kill, cannot be told from one of the
# container where no_new_privs is set.
name='malloc is frozen'
lost '' quick_exit exits quick_exits exits_of_both
lost "$contained" quick_exit exits quick_exits exits_of_both
calls='_exit _Exit'
if is_filtered || ! may 21; then
	echo "SKIPPED: exit_calls: $name: $calls: a filter without" \
	    "no_new_privs takes CAP_SYS_ADMIN"
else
	# shellcheck disable=SC2086
	lost "$contained" $calls
fi
# shellcheck disable=SC2086
is_filtered || lost '' $calls

name='a signal waits for malloc'
for how in raises:23 raises_in_calloc:23 alarm_asleep:23 alarm_busy:23 alarm_alone:23 \
    aborts:134 faults:139; do
	i=0
	while [ $i -lt "$runs" ]; do
		play "${how#*:}" "${how%:*}" leak
		has "$err" " 24 bytes in 1 allocation unreachable out of "
		has_no "$err" "partial"
		i=$((i + 1))
	done
done

name='the status stays'
for how in raises:143 raises_in_calloc:143 alarm_asleep:142 alarm_busy:142 alarm_alone:142 \
    aborts:134 faults:139 ignores:5; do
	i=0
	while [ $i -lt "$runs" ]; do
		play "${how#*:}" "${how%:*}"
		i=$((i + 1))
	done
done
for end in _exit _Exit quick_exit two_calls exits quick_exits exits_of_both \
    call_beside_exit handler exit_on_alternate_stack handler_of_many jumps \
    vfork_children fork_children exit_handler quick_exit_handler \
    lock_of_callback filter_kills filter_refuses only_exit; do
	i=0
	while [ $i -lt "$runs" ]; do
		play 5 "$end"
		i=$((i + 1))
	done
	timeout 60 "$victim" "$end"
	[ $? -eq 5 ] || fail "$end: another status without the command"
	LD_PRELOAD=$LIBRARY timeout 60 "$victim" "$end"
	[ $? -eq 5 ] || fail "$end: another status without options"
	LD_PRELOAD=$LIBRARY MEMUNREACHABLE_OPTIONS=log_path=/dev/null:at_exit=1 \
	    timeout 60 "$victim" "$end"
	[ $? -eq 5 ] || fail "$end: another status with at_exit"
done

name='children'
run 5 --unchecked=ok --children -- "$victim" vfork_children
# What threads of the parent held is lost in a child.
"$command" --limit=1 --unchecked=ok --children -- "$victim" fork_children \
    >"$out" 2>&1
status=$?
[ $status -eq 5 ] || [ $status -eq 23 ] || fail "fork_children: status $status"

# A filter of the program kills for what a check in it would do.
name='a filter of the program'
is_filtered || run 5 --unchecked=ok -- "$victim" filter_kills_in_exit
inside=$contained
for end in filter_kills filter_refuses only_exit; do
	play 5 "$end"
done
inside=

# preloaded STATUS OPTIONS END
preloaded() {
	LD_PRELOAD=$LIBRARY MEMUNREACHABLE_OPTIONS=at_exit=1:$2 \
	    timeout 60 "$victim" "$3" leak >"$out" 2>"$err"
	status=$?
	[ $status -eq "$1" ] || fail "$3: status $status: $(cat "$err")"
}

# It is seen when it is added. Others do not matter: one of another thread or of
# a child of vfork(), one that the kernel refuses.
name='a filter of the program, preloaded'
preloaded 3 '' filter_and_exit
has "$err" "will not be checked at its end"
preloaded 0 unchecked=ok filter_and_exit
preloaded 5 '' filter_kills_in_exit
for end in exit_beside_filter exit_after_vfork exit_after_probe; do
	preloaded 23 '' $end
	has "$err" " 24 bytes in 1 allocation unreachable out of "
	has_no "$err" "not be checked at its end:"
done

[ "$(uname -m)" != x86_64 ] || preloaded 23 '' exit_after_clone

# Its check is given up, and the program ends.
name='a command that is killed'
i=0
while [ $i -lt 10 ]; do
	(TMPDIR=$work exec "$command" -- "$victim" _exit) >"$out" 2>&1 &
	pids=$!
	sleep "0.0$((2 + i / 3))$((i * 7 % 10))"
	kill -9 "$pids" 2>/dev/null
	wait "$pids" 2>/dev/null
	pids=
	is_over() {
		! pgrep -f "^$victim" >/dev/null
	}
	await is_over || fail "the program hangs"
	i=$((i + 1))
done

# The end is reported after a second, and not again when the thread arrives.
name='a thread that is late for the end'
folder=$work/mount
if serve_silently "$folder" "$victim"; then
	fall_silent "$folder" USR2
	(sleep 4 && kill -9 "$server") &
	begin=$(date +%s)
	SILENT_FILE=$folder/prog run 5 --unchecked=ok -- "$victim" late_thread
	[ $(($(date +%s) - begin)) -ge 3 ] || fail "no thread was late"
	[ "$(grep -c '^memunreachable: ' "$err")" -eq 1 ] ||
		fail "reports: $(cat "$err")"
	umount -l "$folder"
else
	echo "SKIPPED: exit_calls: $name: no FUSE mount here"
fi

[ "$failures" -eq 0 ]
