# shellcheck shell=sh disable=SC2034,SC2154 # others use what is set here
# For plays with the command: how it is run, and what it may say.
. tests/support/script_setup.sh
command=$build/memunreachable
out=$work/out
err=$work/err
unset LD_PRELOAD

# In a container: a program that makes one and runs the command there.
contained="$build/tests/support/stop/no_ptrace -c"
inside=

# run WANTED ARG...: the command with these arguments ends with this status. In
# a subshell, whose message about a signal that ends the command is discarded.
run() {
	wanted=$1
	shift
	# shellcheck disable=SC2086 # options of a program
	(exec $inside "$command" "$@" >"$out" 2>"$err" </dev/null) 2>/dev/null
	status=$?
	[ $status -eq "$wanted" ] || {
		fail "memunreachable $*: status $status, not $wanted"
		sed 's/^/	/' "$out" "$err"
	}
}
