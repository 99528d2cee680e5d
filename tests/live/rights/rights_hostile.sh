#!/bin/sh
# Root checks a process whose owner interferes: the processes of the command
# have the owner's rights then, and get signals and limits from the owner
# (tests/live/victims/victim_hostile.c). The command ends in time with a status and a
# reason, and the process is unchanged. TESTS_PASSES checks of each kind.
set -u
. tests/support/command/other_users.sh
passes=${TESTS_PASSES:-8}
timeout=4 late=12 # seconds: --timeout, and when it hangs
# Of a user with no other process, lest those get the signals.
user=$((100000 + $$))

setpriv --reuid=$user --regid=$user --clear-groups true 2>/dev/null ||
	skip "no user $user here"

cp "$build/tests/live/victims/victim_hostile" "$work/victim"
chmod 755 "$work/victim"
mkfifo "$work/control"

# Processes of the user but the victim and its child.
others() {
	grep -ls "^Uid:[[:space:]]${user}[[:space:]]" /proc/[0-9]*/status |
		while read -r status; do
			sed -n 's/^Name:[[:space:]]*//p
				s/^State:[[:space:]]*//p
				s/^PPid:/child of/p' "$status" 2>/dev/null |
				tr '\n' ' '
			echo "$status"
		done | grep -v "/proc/$pid/" |
		grep -v "^victim.* [RSD] (.*child of[[:space:]]$pid "
}

is_alone() {
	[ -z "$(others)" ]
}

# One look; its status is one of those that it may have.
look() {
	begin=$(date +%s)
	timeout -s KILL $late "$command" -q -p "$pid" --timeout=${timeout}s \
	    "$@" >"$said" 2>&1
	status=$?
	took=$(($(date +%s) - begin))
	[ $took -gt $longest ] && longest=$took
	case $status in
	0 | 4) answers=$((answers + 1)) ;;
	3)
		grep -q 'memunreachable: .' "$said" ||
			fail "status 3 without a cause: $(head -c 300 "$said")"
		;;
	*) fail "status $status after $took s: $(head -c 300 "$said")" ;;
	esac
}

# MODE OPTION...
play() {
	mode=$1
	shift
	name="$mode $*"
	looks=0 answers=0 longest=0
	: >"$work/out"
	setpriv --reuid=$user --regid=$user --clear-groups "$work/victim" \
	    "$mode" <"$work/control" >"$work/out" 2>&1 &
	pid=$!
	pids=$pid
	exec 3>"$work/control"
	await is_ready
	while [ $looks -lt "$passes" ]; do
		look "$@"
		looks=$((looks + 1))
	done
	echo >&3
	await grep -q peace "$work/out"
	look "$@"
	[ $status -eq 0 ] || fail "in peace: status $status, $(cat "$said")"
	tries=0
	until is_alone || [ $tries -eq 100 ]; do
		tries=$((tries + 1))
		sleep 0.1
	done
	is_alone || fail "left: $(others)"
	exec 3>&-
	wait "$pid"
	status=$?
	pids=
	[ $status -eq 0 ] ||
		fail "the process ended with $status: $(cat "$work/out")"
	echo "$name: $looks looks, $answers answers, $longest s at most;" \
	    "$(tail -n 1 "$work/out")"
}

for mode in ${TESTS_MODES:-calm stop kill mixed limits}; do
	play "$mode"
	play "$mode" --stop=read
done
[ "$failures" -eq 0 ]
