#!/bin/sh
# LeakTracer's calls in programs of their own: linked to the library before all
# others, with the archive inside, and the C++ header in every dialect. The
# library is awake because a call wakes it: no variable is set.
set -u
. tests/support/script_setup.sh
shown=$work/log
archive=$build/libmemunreachable-malloc-debug.a
here=tests/recorder/leaktracer
cc=${CC:-cc}
cxx=${CXX:-c++}

# compile WHAT COMMAND...
compile() {
	what=$1
	shift
	"$@" >"$work/log" 2>&1 && return
	fail "$what does not compile"
	return 1
}

# The blocks that life.cc leaves: a new[] and a malloc of 256 bytes each.
two_records() {
	if [ "$(grep -c '^leak, ' "$1")" != 2 ] ||
	    ! grep -q '^leak, .*, size=256, data=n\{50\}$' "$1" ||
	    ! grep -q '^leak, .*, size=256, data=m\{50\}$' "$1"; then
		cp "$1" "$work/log"
		fail "two_records ($2)"
	fi
	grep -q "^leak, time=[0-9.]*, stack=0x" "$1" ||
		fail "stack ($2)"
}

# run NAME WHAT: run the program NAME, which writes leaks.out.
run() {
	rm -f "$work/leaks.out"
	timeout 20 "$work/$1" "$work/leaks.out" >"$work/log" 2>&1 ||
		fail "$2: exit status $?"
}

flags="-O1 -g -fno-builtin -Wall -Wextra -Werror -Iinclude"
for dialect in c++98 c++11 c++17 "c++98 -fno-exceptions"; do
	# The words are options by intention.
	# shellcheck disable=SC2086
	compile "lt_header_$dialect" $cxx $flags -std=$dialect \
	    -pedantic -c -o "$work/life.o" $here/life.cc
done
# shellcheck disable=SC2086
compile lt_header_c $cc $flags -std=c99 -pedantic -fsyntax-only \
    include/memunreachable/leaktracer.h

# shellcheck disable=SC2086
if compile life_shared $cxx $flags -o "$work/life" $here/life.cc "$recorder" \
    -Wl,-rpath,"$build"; then
	run life "lt2 life cycle"
	two_records "$work/leaks.out" "linked first"
fi
# shellcheck disable=SC2086
if compile life_static $cxx $flags -o "$work/life_static" $here/life.cc \
    "$archive" -ldl -pthread; then
	run life_static "lt1 life cycle"
	two_records "$work/leaks.out" "archive"
fi
# shellcheck disable=SC2086
if compile calls_shared $cc -std=gnu11 $flags -o "$work/calls" \
    $here/calls.c "$recorder" -Wl,-rpath,"$build" -pthread; then
	run calls "calls"
	grep -qx 'Failed to write to "/nonexistent/leaks.out"' "$work/log" ||
		fail "words of a failure to write"
fi
# shellcheck disable=SC2086
if compile calls_static $cc -std=gnu11 $flags -o "$work/calls_static" \
    $here/calls.c "$archive" -ldl -pthread; then
	run calls_static "calls, archive"
fi
exit $((failures > 0))
