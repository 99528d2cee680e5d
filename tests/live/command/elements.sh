#!/bin/sh
# Paths through containers name the element: cache .sessions["alice"], queue
# [70]; by keys that are numbers, strings and structures, of libstdc++ and libc++.
set -u
. tests/support/script_setup.sh
command=$build/memunreachable
source=tests/live/command/elements/containers.cc
checked=0

# The short line of the path to the block at $1, without the program's name.
path_to() {
	"$command" -q "--why=$1" -p "$pid" >"$work/report" 2>&1
	sed -n '/^Why /{n;s/^ *//;s/ (program)//;s/probably //g;s/ → / /g;p;}' \
	    "$work/report"
}

play() {
	name="$*"
	if ! made "$work/program" "$@" -std=c++17 -w -g -I. "$source" \
	    2>"$work/errors"; then
		# Is the compiler there at all, with its library?
		echo "#include <memory>" >"$work/any.cc"
		echo "int main() { return 0; }" >>"$work/any.cc"
		if "$@" -o "$work/any" "$work/any.cc" 2>"$work/missing"; then
			fail "not compiled: $(cat "$work/errors")"
		else
			echo "SKIPPED: $name: $(head -n 1 "$work/missing")"
		fi
		return
	fi
	hold "$work/program"
	while read -r address expected; do
		[ "$address" != ready ] || break
		checked=$((checked + 1))
		path="$(path_to "$address") "
		case $path in
		"$expected "*) ;;
		*) fail "$expected: $path" ;;
		esac
	done <"$said"
	let_go
}

play g++ -O0
play clang++ -O1
play clang++ -O1 -stdlib=libc++

[ $failures -eq 0 ] || exit 1
[ $checked -gt 0 ] || exit 77
