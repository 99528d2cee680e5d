#!/bin/sh
# Where another program traces the program: gdb with a breakpoint that is hit,
# gdb attached while passes run back to back and detached again, strace -f in
# both ways, perf trace. A thread has one tracer at most: with stop=auto the
# threads wait in a signal handler, and the debugger does not stop at it.
# shellcheck disable=SC2034 # environments.sh uses what is set here
set -u
. tests/support/environments/environments.sh
place=$victims/victim_environment

gdb_release() {
	gdb --version 2>/dev/null | sed -n '1s/.* \([0-9]*\)\..*/\1/p'
}

# gdb's commands, one an argument; then the program by itself.
under_gdb() {
	rm -f "$work/commands"
	for word in 'set pagination off' 'set breakpoint pending on' \
	    'set debuginfod enabled off' "$@"; do
		echo "$word" >>"$work/commands"
	done
	gdb="gdb -nx -batch -x $work/commands"
	# Words by intention.
	# shellcheck disable=SC2086
	places "$subject" "$auto" "$ptrace" "$signal" $gdb "$place"
}

# A debugger that shows a signal of ours, or stops at it, disturbs its user.
expect_undisturbed() {
	! grep -q '^Function .* not defined' "$work/out" ||
		fail "gdb: $(grep '^Function .* not defined' "$work/out")"
	grep -q 'received signal' "$work/out" || return
	fail "gdb was stopped: $(grep 'received signal' "$work/out")"
}

play_gdb() {
	auto=signal ptrace='already traced' signal=signal
	subject="gdb, breakpoint and continue"
	under_gdb 'break environment_ask' 'run' 'continue'
	expect_undisturbed
	checks=$((checks + 1))
	[ "$(grep -c '^Thread 1.* hit Breakpoint' "$work/out")" -eq 1 ] ||
		fail "the breakpoint was not hit once"

	ptrace=- signal=-
	subject="gdb, breakpoint in a thread that allocates"
	under_gdb 'break environment_ask' 'run' 'tbreak malloc' 'continue' 'continue'
	expect_undisturbed
	subject="gdb, breakpoint on the question"
	under_gdb 'break GetUnreachableMemory' 'run' 'continue' 'continue'
	expect_undisturbed
	subject="gdb, one step at a time"
	under_gdb 'break environment_pass' 'run' 'next' 'next' 'next' 'next' 'next' \
	    'next' 'next' 'delete' 'continue'
	expect_undisturbed
	# The copies of the program run into it as well, without a tracer.
	subject="gdb, breakpoint on a function that a pass calls"
	auto="^(complete by signal: exact|helper process died by none: .*); "
	auto="${auto}the same again; unharmed\$"
	under_gdb 'break environment_ask' 'run' 'break __memmove_avx_unaligned_erms' \
	    'break __memset_avx2_unaligned_erms' 'break memcpy' 'delete 1' \
	    'continue' 'delete' 'continue'
}

# What is asked of a pass, without the wait: FILE has TEXT in COUNT lines.
has_lines() {
	[ -e "$1" ] && [ "$(grep -c "$2" "$1")" -ge "$3" ] ||
		! kill -0 "$pid" 2>/dev/null
}

begin_passes() {
	rm -f "$work/in" "$work/out" "$work/passes"
	mkfifo "$work/in"
	env MEMUNREACHABLE_OPTIONS="stop=$1:max_pause=10s:$options" timeout -k 5 $patience \
	    "$place" "passes=$2" <"$work/in" >"$work/out" \
	    2>"$work/passes" &
	guard=$!
	pids="$pids $guard"
	exec 9>"$work/in"
	pid=$guard
	await has_lines "$work/out" '^ready' 1 || fail "not ready"
	pid=$(ps -o pid= --ppid "$guard" | tr -d ' ')
}

# EXPECTED of two more passes, when it is no longer traced.
end_passes() {
	(trap '' PIPE && echo stop >&9) || fail "the program is gone"
	exec 9>&-
	wait "$guard"
	tail="$1: exact; the same again; unharmed"
	judge "^0 other answers, complete by $tail\$" "$work/out"
	cat "$work/passes"
}

# The thread that a pass traces cannot be attached to during that: try again.
attach_gdb() {
	tries=0
	until timeout -k 5 $patience gdb -nx -batch -p "$pid" \
	    -ex 'break environment_report' -ex 'ignore 1 5' -ex continue \
	    -ex detach >"$work/gdb" 2>&1 </dev/null &&
	    grep -q 'hit Breakpoint' "$work/gdb"; do
		tries=$((tries + 1))
		if [ $tries -gt 50 ] || ! kill -0 "$pid" 2>/dev/null; then
			sed 's/^/    /' "$work/gdb"
			fail "gdb could not be attached"
			return
		fi
	done
	echo "gdb attached, after $tries refusals"
	if grep 'received signal' "$work/gdb"; then
		fail "gdb was stopped by a signal"
	fi
}

attach_strace() {
	tries=0
	while :; do
		rm -f "$work/calls"
		timeout -k 5 $patience strace -f -o "$work/calls" \
		    -p "$pid" 2>"$work/strace" &
		tracer=$!
		pids="$pids $tracer"
		until has_lines "$work/calls" 'pipe2(' 5; do
			kill -0 $tracer 2>/dev/null || break
			sleep 0.05
		done
		kill -TERM $tracer 2>/dev/null
		wait $tracer
		has_lines "$work/calls" 'pipe2(' 5 && break
		tries=$((tries + 1))
		if [ $tries -gt 50 ]; then
			fail "strace could not be attached"
			return
		fi
	done
	echo "strace attached, after $tries refusals"
}

# NAME, attach...
play_attached() {
	for method in auto ptrace signal; do
		name="$1, stop=$method"
		refusal='' after=ptrace
		[ $method = ptrace ] && refusal='already traced'
		[ $method = signal ] && after=signal
		begin_passes $method "$refusal"
		$2
		$2
		end_passes $after
	done
}

# One thread of the program lets nothing through but signals 32 and 33.
if have gdb "debuggers" && [ "$(gdb_release)" -lt 12 ]; then
	skip "debuggers: gdb $(gdb_release) stops at signal 33"
elif have gdb "debuggers"; then
	play_gdb
	have ps "gdb attached" && play_attached "gdb attached" attach_gdb
fi
if have strace "strace"; then
	places "strace -f" signal 'already traced' signal \
	    strace -f -o "$work/calls" "$place"
	# It follows forks, but not the pass's untraced processes.
	places "strace -f, ptrace denied" signal \
	    '(already traced|ptrace refused by seccomp)' signal \
	    strace -f -o "$work/calls" "$place" seccomp=EPERM
	have ps "strace attached" &&
		play_attached "strace -f attached" attach_strace
fi
for tool in "perf trace" ltrace; do
	if have "${tool%% *}" "$tool" &&
	    $tool -o "$work/calls" true >"$work/why" 2>&1; then
		[ "$tool" = ltrace ] && denied='already traced' method=signal
		[ "$tool" = ltrace ] || denied=ptrace method=ptrace
		# Words by intention.
		# shellcheck disable=SC2086
		places "$tool" $method "$denied" signal \
		    $tool -f -o "$work/calls" "$place"
	elif command -v "${tool%% *}" >/dev/null; then
		skip "$tool: $(head -n 1 "$work/why")"
	fi
done

finish_places
