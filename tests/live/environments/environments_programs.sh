#!/bin/sh
# What a shell can do to a program: no terminal, no parent, no stdio, no folder
# to be in, small limits, other layouts of memory, other ways of loading. And
# programs that know nothing of the library, with it preloaded: their output and
# their exit status stay theirs.
# shellcheck disable=SC2034 # environments.sh uses what is set here
set -u
. tests/support/environments/environments.sh
place=$victims/victim_environment

# NAME, the line of a shell that starts the program, which is $0 there.
shell() {
	subject=$1
	shift
	places "$subject" ptrace ptrace signal sh -c "$1" "$place"
}

# Words in single quotes are for the inner shell.
# shellcheck disable=SC2016
{
	shell "nohup" 'nohup "$0" 2>/dev/null'
	shell "closed descriptors" 'PLACE_OUTPUT=9 "$0" 9>&1 0<&- 1>&- 2>&-'
	shell "closed descriptors, no descriptor to spare but eight" \
	    'PLACE_OUTPUT=9 "$0" descriptors=10 9>&1 0<&- 1>&- 2>&-'
	shell "no folder to be in" '"$0" "removed_cwd='"$work/gone"'"'
	shell "12 descriptors" '"$0" descriptors=12'
	shell "stack of 128 KiB" 'ulimit -s 128; exec "$0"'
	shell "stack without limit" 'ulimit -s unlimited; exec "$0"'
	shell "one arena" 'MALLOC_ARENA_MAX=1 exec "$0" threads=8'
	shell "bound at once" 'LD_BIND_NOW=1 exec "$0"'
	shell "all signals ignored that can be" \
	    'trap "" HUP INT QUIT TERM USR1 USR2 CHLD URG WINCH; exec "$0"'
	shell "orphaned" \
	    '(sleep 0.1; exec "$0" >"'"$work/orphan"'") &
	    wait; cat "'"$work/orphan"'"'
	have setsid "setsid" && shell "setsid" 'setsid -w "$0"'
	have setarch "setarch" &&
		shell "the same addresses each time" 'setarch -R "$0"'
	[ -w /dev/shm ] && shell "library in /dev/shm" '
		copy=/dev/shm/memunreachable-$$.so
		cp "'"$build"'/libmemunreachable.so.0" "$copy"
		LD_PRELOAD=$copy "$0"
		rm "$copy"'
}

# Its parent has ended before its pass; no process waits for it.
for method in ptrace signal; do
	name="job whose parents have gone, stop=$method"
	orphan=$work/orphan.$method
	(MEMUNREACHABLE_OPTIONS=stop=$method:max_pause=10s sh -c \
	    '(sleep 0.2; exec "$0" >"$1" 2>&1) &' "$place" "$orphan" &)
	await grep -q harmed "$orphan" 2>/dev/null
	judge $method "$orphan"
done

# NAME, exit status, command. A leak leads to the expected exit status,
# too: the program itself may leak.
preloaded() {
	name="preloaded: $1, stop=$method"
	checks=$((checks + 1))
	wanted=$2
	shift 2
	"$@" >"$work/plain" 2>/dev/null </dev/null
	plain=$?
	[ $plain -eq "$wanted" ] || fail "by itself: exit status $plain"
	env LD_PRELOAD="$library" \
	    MEMUNREACHABLE_OPTIONS="at_exit=1:exitcode=$wanted:stop=$method:max_pause=10s:log_path=$work/log" \
	    timeout -k 5 $patience "$@" >"$work/out" 2>"$work/err" </dev/null
	status=$?
	[ $status -eq "$wanted" ] || fail "exit status $status"
	cmp -s "$work/plain" "$work/out" || fail "another output"
	cat "$work"/log.* >"$work/said" 2>/dev/null
	rm -f "$work"/log.*
	grep -q ' unreachable out of ' "$work/said" ||
		fail "no report: $(head -n 3 "$work/said" "$work/err")"
}

for method in ptrace signal; do
	preloaded ls 0 ls /
	preloaded "ls of nothing" 2 ls /nowhere
	preloaded cat 0 cat /etc/passwd
	preloaded "grep without a match" 1 grep nowhere.at.all /etc/passwd
	preloaded sort 0 sort /etc/passwd
	preloaded env 1 env false
	preloaded sh 7 sh -c 'exit 7'
	preloaded "sh with children" 3 sh -c 'ls / | cat; (exit 3)'
	preloaded awk 4 awk 'BEGIN { exit 4 }'
done

finish_places
