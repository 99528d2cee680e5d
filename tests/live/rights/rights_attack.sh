#!/bin/sh
# Root checks a process of another user, which rewrites its code in order to
# become root (tests/live/victims/victim_thief.c). It must never succeed, nor become
# another program meanwhile. TESTS_PASSES checks of each kind of process, 34 by
# default: 204 in all; and more, at most 1000, until one has met what is rewritten.
set -u
. tests/support/command/other_users.sh
passes=${TESTS_PASSES:-34}
most=1000
den=$work/den

[ "$(uname -m)" = x86_64 ] || skip "the attack is written for x86-64"

mkdir "$den"
chown 65534:65534 "$den"
cp "$build/tests/live/victims/victim_thief" "$work/thief"
cp "$build/tests/live/victims/victim_thief" "$work/program"
chmod 755 "$work/thief"
chmod 4755 "$work/program"
# Is the bit honoured here? Code at THIEF_PLACE does not run, but the user is.
cp "$(command -v id)" "$work/id"
chmod 4755 "$work/id"
# Words by intention.
# shellcheck disable=SC2086
[ "$($as_nobody "$work/id" -u)" = 0 ] || skip "set-user-ID is not honoured here"

end_thief() {
	kill -9 "$pid" 2>/dev/null
	wait "$pid" 2>/dev/null
	pids=
}

# The same process is there, and is no other program yet.
is_same() {
	[ "$(readlink "/proc/$pid/exe")" = "$work/thief" ]
}

# The answers that say REASON.
count() {
	grep -c "$1" "$work/answers"
}

# True if the checks so far suffice.
is_enough() {
	[ "$looks" -ge "$passes" ] || return 1
	[ "$name" != "vdso --stop=fork" ] || [ "$looks" -ge $most ] ||
		[ "$(count "made another system call")" -gt 0 ]
}

look() {
	"$command" -q -p "$pid" "$@" >"$work/said" 2>&1
	looks=$((looks + 1))
	head -n 1 "$work/said" >>"$work/answers"
}

# MODE OPTION...: passes at such a process, of which there is always one.
attack() {
	mode=$1
	shift
	name="$mode${*:+ $*}"
	looks=0 started=0
	: >"$work/answers"
	until is_enough; do
		: >"$work/out"
		# Words by intention.
		# shellcheck disable=SC2086
		(cd "$den" && exec $as_nobody "$work/thief" "$mode" \
		    "$work/program" >"$work/out" 2>&1) &
		pid=$!
		pids=$pid
		await is_ready
		is_same || {
			fail "the process did not start: $(cat "$work/out")"
			end_thief
			return
		}
		started=$((started + 1))
		while is_same && ! is_enough; do
			look "$@"
		done
		end_thief
		for sign in proof executed; do
			[ -e "$den/$sign" ] || continue
			fail "$name: look $looks made the file \"$sign\""
			rm -f "$den/$sign"
			return
		done
	done
	echo "$name: $looks looks at $started processes," \
	    "$(count "made another system call") kept from another call"
}

# Without this the attacks above mean nothing.
expect_met() {
	[ "$(count "$1")" -gt 0 ] || fail "$name: no answer says \"$1\""
}

for mode in shared file; do
	attack "$mode"
	attack "$mode" --stop=fork
	expect_met "no vDSO with a system call instruction that others cannot"
done
attack vdso
attack vdso --stop=fork
expect_met "made another system call than ours"
[ "$failures" -eq 0 ]
