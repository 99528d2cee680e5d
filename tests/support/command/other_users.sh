# shellcheck shell=sh disable=SC2034,SC2154 # others use what is set here
# For plays in which root looks at processes of other users: they are skipped
# where that cannot be.
. tests/support/script_setup.sh
command=${MEMUNREACHABLE:-$build/memunreachable}
as_nobody="setpriv --reuid=65534 --regid=65534 --clear-groups"

skip() {
	echo "SKIPPED: $(basename "$0" .sh): $1"
	exit 77
}

[ "$(id -u)" -eq 0 ] || skip "needs root"
may_trace_all || skip "needs CAP_SYS_PTRACE"
command -v setpriv >/dev/null || skip "no setpriv"

# Process $pid says so, or has ended.
is_ready() {
	grep -q ready "$work/out" || ! kill -0 "$pid" 2>/dev/null
}
