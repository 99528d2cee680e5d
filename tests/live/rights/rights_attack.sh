#!/bin/sh
# Root checks a process of another user, which rewrites its code in order to
# become root (tests/live/victims/victim_thief.c). It must never succeed. TESTS_PASSES
# checks of each kind of process, 34 by default: 204 in all.
set -u
. tests/support/command/other_users.sh
passes=${TESTS_PASSES:-34}
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

# MODE OPTION...: passes at such a process, of which there is always one.
attack() {
	mode=$1
	shift
	name="$mode $*"
	looks=0 started=0
	while [ "$looks" -lt "$passes" ]; do
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
		while [ "$looks" -lt "$passes" ] && is_same; do
			"$command" -q -p "$pid" "$@" >"$work/said" 2>&1
			looks=$((looks + 1))
		done
		end_thief
		if [ -e "$den/proof" ]; then
			fail "it became root in look $looks"
			rm -f "$den/proof"
			return
		fi
	done
	echo "$name: $looks looks at $started processes"
}

for mode in shared file vdso; do
	attack "$mode"
	attack "$mode" --stop=fork
done
[ "$failures" -eq 0 ]
