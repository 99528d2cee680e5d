#!/bin/sh
# Root checks processes of other users: with their rights where the kernel then
# allows it, and otherwise without injecting a system call. The report is
# complete either way.
set -u
. tests/support/command/other_users.sh

cp "$(command -v sleep)" "$work/sleep"
cp "$build/tests/live/victims/victim_thief" "$work/victim"
cp "$command" "$work/command"
chmod 755 "$work/sleep" "$work/victim" "$work/command"

is_quiet() {
	[ "$(cut -d ' ' -f 1 "/proc/$pid/syscall" 2>/dev/null)" != running ] &&
		[ "$(cut -d ' ' -f 3 "/proc/$pid/stat")" = S ] &&
		grep -q libc "/proc/$pid/maps"
}

# start NAME COMMAND...: a process to look at.
start() {
	name=$1
	shift
	"$@" >"$work/out" 2>&1 &
	pid=$!
	pids="$pids $pid"
	await is_quiet || fail "it does not sleep: $(cat "$work/out")"
}

# looks STATUS PATTERN OPTION...: at the process, and what is said of it.
looks() {
	expected=$1 pattern=$2
	shift 2
	"$command" -q "$@" -p "$pid" >"$said" 2>&1
	status=$?
	[ $status -eq "$expected" ] || fail "exit status $status, not $expected"
	grep -Eq "$pattern" "$said" || {
		fail "nothing says \"$pattern\":"
		sed 's/^/    /' "$said"
	}
}

doctor_says() {
	"$command" --doctor "$pid" >"$said" 2>&1 || fail "the doctor: $?"
	grep -Eq "$1" "$said" || {
		fail "the doctor does not say \"$1\":"
		sed 's/^/    /' "$said"
	}
}

start root "$work/sleep" 1000
looks 0 '"stop": "fork"' --format=json
doctor_says '^ok .*rights: .*user 0, no more capabilities'

# Words by intention.
# shellcheck disable=SC2086
start nobody $as_nobody "$work/sleep" 1000
looks 0 '"stop": "fork"' --format=json
looks 0 '\(fork\)' --stop=fork
looks 0 '\(read\)' --stop=read
doctor_says '^ok .*rights: .*user 65534, no capabilities'
"$command" -q -p "$pid" -o "$work/report"
grep -q '(fork)' "$work/report" || fail "no report in the file"
[ "$(stat -c %u:%a "$work/report")" = 0:600 ] || fail "the file is not ours"

# shellcheck disable=SC2086
start 'not dumpable' $as_nobody "$work/victim" closed -
looks 0 '"stop": "read"' --format=json
looks 3 'rights that it does not have' --stop=fork
doctor_says '^warning .*rights: .*no copy of it can be made'

start 'several users' setpriv --ruid=0 --euid=65534 --reset-env \
    "$work/sleep" 1000
looks 0 '"stop": "read"' --format=json

start 'root without capabilities' setpriv --bounding-set=-all \
    --inh-caps=-all "$work/sleep" 1000
looks 0 '"stop": "fork"' --format=json
doctor_says '^ok .*rights: .*user 0, no capabilities'

start 'a user with capabilities' setpriv --reuid=65534 --regid=65534 \
    --clear-groups --inh-caps=+net_bind_service \
    --ambient-caps=+net_bind_service "$work/sleep" 1000
looks 0 '"stop": "fork"' --format=json

if unshare --user --map-root-user true 2>/dev/null; then
	# shellcheck disable=SC2086
	start 'another user namespace' $as_nobody unshare --user \
	    --map-root-user "$work/sleep" 1000
	looks 0 '"stop": "fork"' --format=json
else
	echo "SKIPPED: rights_taken: no user namespaces here"
fi

# The limit of our processes is not for those of the target's user, if we may
# raise it (CAP_SYS_RESOURCE). Else it is said that no process can be started.
start 'no process more' setpriv --reuid=65534 --regid=65534 --clear-groups \
    "$work/sleep" 1000
prlimit --nproc=1:1 "$work/command" -q -p "$pid" >"$said" 2>&1
status=$?
if may 24; then
	[ $status -eq 0 ] || fail "$(head -c 300 "$said")"
else
	[ $status -eq 3 ] || fail "$(head -c 300 "$said")"
	grep -q 'user 65534 may start no more processes; raise' "$said" ||
		fail "$(head -c 300 "$said")"
fi

# Not dumpable before any change of credentials, and again while there are
# capabilities left: in between the other user could trace the child.
name='not dumpable in time'
if command -v strace >/dev/null; then
	strace -f -o "$work/calls" \
	    -e trace=prctl,setns,setresgid,setresuid,capset \
	    "$work/command" -q -p "$pid" >"$said" 2>&1
	order=$(sed -n 's/.*PR_SET_DUMPABLE, SUID_DUMP_DISABLE.*/hidden/p
		s/^[0-9]* *\(setns\|setres[ug]id\|capset\)(.*/\1/p' \
	    "$work/calls" | uniq | tr '\n' ' ')
	case $order in
	"hidden setresgid setresuid hidden capset "*) ;;
	*) fail "$order" ;;
	esac
else
	echo "SKIPPED: rights_taken: no strace"
fi

# with_only CAPABILITIES PATTERN: root with no other capability is refused, and
# -p and the doctor say what would help. "-all" leaves none.
with_only() {
	for ask in -p --doctor; do
		setpriv --bounding-set="$1" --inh-caps="$1" "$command" $ask \
		    "$pid" >"$said" 2>&1 && fail "$ask: is not refused"
		grep -Eq "$2" "$said" || fail "$ask: $(cat "$said")"
	done
}

start 'too few capabilities: the files' setpriv --reuid=65534 --regid=65534 \
    --clear-groups "$work/sleep" 1000
with_only -all,+sys_ptrace 'belong to user 65534; give us CAP_SETUID and CAP_S'
with_only -all,+sys_ptrace,+setuid 'give us CAP_SETUID and CAP_SETGID, or CAP_D'
with_only -all 'is of user 65534, we are user 0; run as that user or with CAP'
for more in setuid,+setgid dac_read_search; do
	setpriv --bounding-set="-all,+sys_ptrace,+$more" \
	    --inh-caps="-all,+sys_ptrace,+$more" "$command" -q -p "$pid" \
	    >"$said" 2>&1 || fail "with $more: $(cat "$said")"
done
start 'too few capabilities: ours' "$work/sleep" 1000
with_only -all 'has capabilities that we have not; run with these or CAP_SYS_P'
start 'too few capabilities: groups' setpriv --regid=65534 --clear-groups \
    --bounding-set=-all --inh-caps=-all "$work/sleep" 1000
with_only -all 'has other (group ids; run with|user or group ids besides)'

# The command with a capability, at a process of the same user.
name='our own capability'
start "$name" setpriv --reuid=65534 --regid=65534 --clear-groups \
    "$work/sleep" 1000
setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=+sys_ptrace \
    --ambient-caps=+sys_ptrace "$work/command" -q -p "$pid" \
    --format=json >"$said" 2>&1
grep -q '"stop": "fork"' "$said" || fail "$(head -c 300 "$said")"

[ "$failures" -eq 0 ]
