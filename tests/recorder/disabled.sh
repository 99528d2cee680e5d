#!/bin/sh
# memunreachable_disable(): what a thread allocates in a scope is not reported,
# with any options of the recorder; without a recorder all is.
set -u
. tests/support/script_setup.sh
unset LD_PRELOAD LIBC_DEBUG_MALLOC_OPTIONS
shown=$work/out
${CXX:-c++} -std=c++17 -g -Wall -Wextra -Wno-free-nonheap-object -O1 \
	-Iinclude -o "$work/disabled" tests/recorder/disabled/disabled.cc \
	-L"$build" -lmemunreachable -Wl,-rpath,"$build" -pthread ||
	fail "does not compile"

# found WANTED: "blocks bytes"
found() {
	[ "$(head -n 1 "$work/out")" = "$1" ] || fail "expected $1"
}

name='no recorder'
"$work/disabled" >"$work/out" 2>&1
found "10 $((7640 + 3008 + 1000 + 5000 + 6024 + 7000 + 8008 - 16))"

for options in '' backtrace guard 'backtrace_size=5000' \
	'backtrace_sample' 'verify_pointers free_track' \
	'fill backtrace_full'; do
	name="options: $options"
	LD_PRELOAD=$recorder LIBC_DEBUG_MALLOC_OPTIONS=$options \
		"$work/disabled" >"$work/out" 2>&1
	case $options in
	*guard* | *verify*) grep -q '^4 ' "$work/out" || fail "not 4 blocks" ;;
	*) found '4 7632' ;;
	esac
	! grep -q '+++' "$work/out" || fail "errors"
done

name='from outside'
LD_PRELOAD=$recorder "$work/disabled" wait >"$work/waits" 2>&1 &
pids=$!
wait_for=0
until [ -s "$work/waits" ] || [ $((wait_for += 1)) -gt 600 ]; do
	sleep 0.1
done
"$build/memunreachable" -q -p "$pids" >"$work/outside" 2>&1
shown="$work/outside"
grep -q '^ *7632 bytes in 4 \|: 7632 bytes in 4 ' "$work/outside" ||
	fail "not 4 blocks from outside"
exit $((failures > 0))
