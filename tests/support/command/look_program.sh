# shellcheck shell=sh disable=SC2034,SC2154 # others use what is set here
# For tests of live/command/looks/program.cc, which is compiled to $work/program.
. tests/support/script_setup.sh
command=$build/memunreachable
source=tests/live/command/looks/program.cc
shown=$work/answer

if ! made "$work/program" g++ -std=c++17 -g -O1 -I. "$source" 2>"$work/errors"
then
	echo "SKIPPED: not compiled: $(head -n 1 "$work/errors")"
	exit 77
fi

# ends STATUS OPTION... [-- COMMAND...]
ends() {
	expected=$1
	shift
	"$command" -q "$@" </dev/null >"$work/answer" 2>&1
	status=$?
	[ $status -eq "$expected" ] || fail "$*: status $status"
}
