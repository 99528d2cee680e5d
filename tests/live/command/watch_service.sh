#!/bin/sh
# memunreachable watch for services: --unit, --syslog, the units of systemd, and
# the bars that a wide terminal has.
set -u
. tests/support/script_setup.sh
command=$build/memunreachable
program=$work/watched$$
cp "$build/tests/live/victims/victim_watched" "$program" || exit 1

# The oldest process of a control group with the name of the unit.
name=unit
cgroup=
for place in /sys/fs/cgroup /sys/fs/cgroup/unified /sys/fs/cgroup/memory \
	/sys/fs/cgroup/pids; do
	if [ -f $place/cgroup.procs ] &&
		mkdir "$place/watched$$.service" 2>/dev/null; then
		cgroup=$place/watched$$.service
		break
	fi
done
"$command" watch --unit="watched$$" 2>"$work/err"
status=$?
[ $status -eq 3 ] || fail "exit status $status"
like "$work/err" "no process is in the control group of the unit watched$$\$"
if [ -n "$cgroup" ]; then
	hold "$program" idle
	if echo "$pid" 2>/dev/null >"$cgroup/cgroup.procs"; then
		for unit in "watched$$" "watched$$.service"; do
			"$command" watch --unit="$unit" --count=2 \
				--every=10ms --format=json >"$work/out"
			[ "$(grep -c "\"pid\": $pid," "$work/out")" -eq 3 ] ||
				fail "$unit: $(cat "$work/out")"
		done
		"$command" watch --unit="watched" 2>"$work/err"
		status=$?
		[ $status -eq 3 ] || fail "exit status $status"
	else
		echo "SKIPPED: no process can be put into $cgroup"
	fi
	let_go
	rmdir "$cgroup"
else
	echo "SKIPPED: no control group can be made"
fi

# What is sent, as it is received: by the journal, and without it by /dev/log.
name=syslog
cat >"$work/receive.py" <<'END'
import os, socket, subprocess, sys
path, *command = sys.argv[1:]
os.makedirs(os.path.dirname(path), exist_ok=True)
log = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
log.bind(path)
log.settimeout(60)
status = subprocess.call(command, stdout=subprocess.DEVNULL)
log.setblocking(False)
try:
    while True:
        print(repr(log.recv(65536)))
except BlockingIOError:
    pass
sys.exit(status)
END
# In a mount namespace, whose /run and /dev are empty but for what is needed.
receive() {
	# shellcheck disable=SC2016
	unshare -m sh -c '
		mount --make-rprivate / && mount -t tmpfs none /run &&
		mkdir /run/dev && mount -t tmpfs none /run/dev &&
		for device in null zero full random urandom; do
			touch /run/dev/$device &&
			mount --bind /dev/$device /run/dev/$device || exit
		done && mount --rbind /run/dev /dev && exec python3 "$@"' sh "$@"
}
if [ "$(id -u)" -eq 0 ] && command -v unshare >/dev/null &&
	command -v python3 >/dev/null &&
	unshare -m true 2>/dev/null; then
	hold "$program" idle
	receive "$work/receive.py" /run/systemd/journal/socket "$command" \
		watch -p "$pid" --count=4 --every=10ms --syslog >"$work/out" ||
		fail "journal: $(cat "$work/out")"
	[ "$(wc -l <"$work/out")" -eq 5 ] || fail "journal: $(cat "$work/out")"
	like "$work/out" "^b'PRIORITY=6\\\\nSYSLOG_FACILITY=3\\\\nSYSLOG_IDENTIFIER=memunreachable\\\\n"
	like "$work/out" "\\\\nMESSAGE=.*/watched$$\\[$pid\\]: in use .*, lost 0 bytes, stop .*\\\\n"
	like "$work/out" '\\nMEMUNREACHABLE_HEAP_LOST_BYTES=0\\n'
	like "$work/out" "\\\\nMESSAGE=.*/watched$$\\[$pid\\]: steady: .*\\\\nMEMUNREACHABLE_VERDICT=steady\\\\n"
	receive "$work/receive.py" /dev/log "$command" \
		watch -p "$pid" --count=4 --every=10ms --syslog >"$work/out" ||
		fail "/dev/log: $(cat "$work/out")"
	[ "$(wc -l <"$work/out")" -eq 5 ] || fail "/dev/log: $(cat "$work/out")"
	like "$work/out" "^b'<30>1 [0-9T:.-]+Z - memunreachable [0-9]+ - \\[memunreachable@32473 .* pid=\"$pid\" .* heap_lost_bytes=\"0\" .*\\] /.*: in use "
	let_go
else
	echo "SKIPPED: not root, no unshare or no python3"
fi
if [ ! -S /dev/log ] && [ ! -S /run/systemd/journal/socket ]; then
	"$command" watch -p $$ --syslog 2>"$work/err"
	status=$?
	[ $status -eq 3 ] || fail "exit status $status"
	has "$work/err" "--syslog: neither"
fi

name=units
mkdir "$work/units"
sed "s|@BINDIR@|$(cd "$build" && pwd)|" \
	lib/glue/systemd/memunreachable@.service.in \
	>"$work/units/memunreachable@.service"
cp lib/glue/systemd/memunreachable@.timer "$work/units"
if command -v systemd-analyze >/dev/null; then
	for unit in service timer; do
		systemd-analyze --man=no verify \
			"$work/units/memunreachable@nginx.$unit" \
			>"$work/verified" 2>&1
		status=$?
		# Units of the machine that these need are read, too.
		grep -v '^/\(usr/lib\|lib\|etc\)/systemd/' "$work/verified" \
			>"$work/ours"
		[ "$status$(cat "$work/ours")" = 0 ] ||
			fail "exit status $status: $(cat "$work/ours")"
	done
else
	echo "SKIPPED: no systemd-analyze"
fi
# The options of the service are options.
words=$(sed -n 's/^ExecStart=//; t done; d; :done s/%i/nothing/p' \
	"$work/units/memunreachable@.service")
eval "$words" 2>"$work/err"
status=$?
[ $status -eq 3 ] || fail "exit status $status: $(cat "$work/err")"

name=terminal
cat >"$work/terminal.py" <<'END'
import fcntl, os, pty, struct, sys, termios
columns, *command = sys.argv[1:]
ours, theirs = pty.openpty()
fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("4H", 40, int(columns), 0, 0))
child = os.fork()
if child == 0:
    os.dup2(theirs, 1)
    os.execv(command[0], command)
os.close(theirs)
try:
    while True:
        data = os.read(ours, 65536)
        if not data:
            break
        os.write(1, data.replace(b"\r", b""))
except OSError:
    pass
os.waitpid(child, 0)
END
if ! has_terminals; then
	echo "SKIPPED: no terminals, or no script(1)"
elif command -v python3 >/dev/null; then
	hold "$program" idle
	for columns in 122 121 40; do
		python3 "$work/terminal.py" $columns "$command" watch -q \
			-p "$pid" --count=4 --every=10ms >"$work/out$columns"
	done
	let_go
	like "$work/out122" '^time .* stop in use       held free    lost$'
	like "$work/out122" '^[0-9:]{8} .*  ▁▁  .* ▁▁$'
	like "$work/out121" ' stop$'
	like "$work/out121" '^  in use  .* ▁▁▁▁ '
	unlike "$work/out40" '▁'
else
	echo "SKIPPED: no python3"
fi

[ "$failures" -eq 0 ]
