#!/bin/sh
# Where ptrace is refused: seccomp filters of all kinds, a process that is not
# dumpable, other users, no privileges. With stop=auto the threads wait in a
# signal handler and the answer is the same; with stop=ptrace the reason names
# the refusal.
set -u
. tests/support/environments/environments.sh
place=$victims/victim_environment

places "nothing refused" ptrace ptrace signal "$place"

for action in EPERM EACCES ENOSYS ESRCH TRAP KILL_THREAD KILL_PROCESS; do
	places "seccomp $action" signal 'ptrace refused by seccomp' signal \
	    "$place" "seccomp=$action"
done
places "container" signal 'ptrace refused by seccomp' signal \
    "$place" container=EPERM
places "container that kills" signal 'ptrace refused by seccomp' signal \
    "$place" container=KILL_PROCESS
places "no_new_privs" ptrace ptrace signal "$place" no_new_privs

# Nothing is left then; the reason names both refusals.
places "a thread that no signal reaches" ptrace ptrace 'signals blocked' \
    "$place" thread_deaf
places "the same, ptrace denied" 'ptrace refused by seccomp' - - \
    "$place" thread_deaf seccomp=EPERM
checks=$((checks + 1))
grep -q 'blocks every signal' "$work/out" ||
	fail "not a word of the signal: $(cat "$work/out")"

# Root may look at what is not dumpable.
if [ "$(id -u)" -eq 0 ]; then
	if may_trace_all; then
		places "root, not dumpable" ptrace ptrace signal \
		    "$place" undumpable
	else
		skip "root, not dumpable: no CAP_SYS_PTRACE"
	fi
	places "setgid, setuid" signal 'not dumpable' signal "$place" become
	places "seteuid" signal 'not dumpable' signal "$place" become_effective
	places "setresuid" signal 'not dumpable' signal "$place" become_at_once
	places "setresuid in one thread" signal 'no permission' signal \
	    "$place" become_alone
	if have setpriv "plays as another user"; then
		nobody="setpriv --reuid=65534 --regid=65534 --clear-groups"
		readable=$(readable_place)
		# Words by intention.
		# shellcheck disable=SC2086
		places "nobody" ptrace ptrace signal $nobody "$readable"
		# shellcheck disable=SC2086
		places "nobody, not dumpable" signal 'not dumpable' signal \
		    $nobody "$readable" undumpable
		# shellcheck disable=SC2086
		places "nobody, no_new_privs" ptrace ptrace signal \
		    $nobody --no-new-privs "$readable"
		places "root without CAP_SYS_PTRACE" ptrace ptrace signal \
		    setpriv --bounding-set=-sys_ptrace \
		    --inh-caps=-sys_ptrace "$readable"
		places "root without it, not dumpable" \
		    signal 'not dumpable' signal \
		    setpriv --bounding-set=-sys_ptrace \
		    --inh-caps=-sys_ptrace "$readable" undumpable
		places "root without any capability" ptrace ptrace signal \
		    setpriv --bounding-set=-all --inh-caps=-all "$readable"
	fi
else
	skip "changes of user: need root"
	places "not dumpable" signal 'not dumpable' signal "$place" undumpable
fi

finish_places
