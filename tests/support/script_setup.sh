# shellcheck shell=sh disable=SC2034 # others use what is set here
# For plays with real programs: a folder of their own, which goes at the end
# with whatever was started and still runs; failures by name; patience.
build=$(cd "${BUILD:-build}" && pwd) || exit 1
work=$(mktemp -d) || exit 1
chmod 755 "$work"
name='' pids=''
failures=0
# Options go behind those that the whole suite is run with.
given=${MEMUNREACHABLE_OPTIONS:+$MEMUNREACHABLE_OPTIONS:}

finish() {
	for pid in $pids; do
		kill -9 "$pid" 2>/dev/null
	done
	rm -rf "$work"
}
trap finish EXIT
trap 'exit 1' HUP INT TERM

fail() {
	echo "FAILED: $name: $1"
	failures=$((failures + 1))
}

# Has this shell the capability of that number? Root in a container may not.
may() {
	effective=$(sed -n 's/^CapEff:[[:space:]]*//p' /proc/self/status)
	[ $((0x$effective >> $1 & 1)) -eq 1 ]
}

# CAP_SYS_PTRACE
may_trace_all() {
	may 19
}

# Can a terminal be made? A bare container has no /dev/pts.
has_terminals() {
	command -v script >/dev/null &&
		script -qec true /dev/null </dev/null >/dev/null 2>&1
}

# Wait, minutes at most, until the command says yes.
await() {
	tries=0
	until "$@"; do
		tries=$((tries + 1))
		[ $tries -lt 1200 ] || return 1
		sleep 0.1
	done
}
