#!/bin/sh
# GoogleTest: a test fails for what it lost, with its name and line; no other
# test does. With a main() that installs the listener, and with ours.
set -u
. tests/support/script_setup.sh
. tests/support/glue_setup.sh
{ libs=$(pkg-config --cflags --libs gtest) && [ -n "$libs" ]; } || {
	echo "SKIPPED: no GoogleTest"
	exit 77
}

# lines PROGRAM [OPTION]...: the failed tests in $work/failed.
lines() {
	"$@" --gtest_color=no >"$work/out" 2>&1
	sed -n 's/^\[  FAILED  \] \([^ ]*\).* (.*ms)$/\1/p' "$work/out" |
		sed 's/,$//' >"$work/failed"
}

sed 's/^/truth./' "$truth" >"$work/truth_gtest"
for with in $(compilers g++ clang++); do
	for level in O0 O2; do
		name="truth, $with -$level"
		compile "$with" "$work/truth_of_gtest" -std=c++17 -DOWN_MAIN \
			"-$level" $glue/truth/gtest.cc || continue
		# The length of its name moves the heap.
		for long in "" _in_a_longer_name; do
			cp "$work/truth_of_gtest" "$work/gtest$long"
			export LD_PRELOAD="$zeroed"
			lines "$work/gtest$long"
			unset LD_PRELOAD
			same "$work/truth_gtest" "$work/failed"
		done
	done
done

name=example
compile "$cxx" "$work/example" -std=c++17 examples/leaks_gtest.cpp
lines "$work/example"
[ "$(cat "$work/failed")" = Split.ArrayOnly ] || fail "$(cat "$work/out")"
has "$work/out" ' 1 FAILED TEST'
has "$work/out" 'Split.ArrayOnly lost 72 bytes in 3 allocations'
has "$work/out" "examples/leaks_gtest.cpp:$(grep -n 'Split, ArrayOnly' \
    examples/leaks_gtest.cpp | cut -d : -f 1): Failure"

name=ends
shown=$work/out
if [ ! -f "$build/libmemunreachable-gtest-main.a" ]; then
	echo "SKIPPED: libmemunreachable-gtest-main.a was not built"
	exit $((failures > 0))
fi
libs="$build/libmemunreachable-gtest-main.a $libs"
compile "$cxx" "$work/ends" -std=c++17 $glue/ends_gtest.cc
lines "$work/ends"
printf '%s\n' Ends.Fails Ends.Throws EndsDeathTest.DiesAndLoses \
	Fixture.LosesMember Cxx.LosesCycleOfPointers Of/Numbered.LosesTwo/1 \
	>"$work/ends_fail"
same "$work/ends_fail" "$work/failed"
has "$work/out" 'SetUpTestSuite() of LosesAtSetUp lost 24 bytes'
has "$work/out" 'TearDownTestSuite() of LosesAtTearDown lost 24 bytes'
[ "$(grep -c ' lost [0-9]* bytes in ' "$work/out")" -eq 6 ] ||
	fail "not six losses"
has_no "$work/out" 'Ends.Fails lost'

name=repeated
lines "$work/ends" --gtest_repeat=3 --gtest_shuffle \
	--gtest_filter='Fixture.*:Of/*:LosesAt*'
[ "$(grep -c "lost [0-9]* bytes in " "$work/out")" -eq 12 ] ||
	fail "not four losses in each of three runs"
exit $((failures > 0))
