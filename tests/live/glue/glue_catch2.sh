#!/bin/sh
# Catch2, version 2 or 3, whichever is installed: a test fails for what it lost,
# with its name and line; no other test does.
set -u
. tests/support/script_setup.sh
. tests/support/glue_setup.sh
if pkg-config --exists catch2-with-main; then
	catch=$(pkg-config --cflags --libs catch2-with-main)
elif echo '#include <catch2/catch.hpp>' | $cxx -E -x c++ - >/dev/null 2>&1; then
	catch=
else
	echo "SKIPPED: no Catch2"
	exit 77
fi

# Catch2 2 is a header: what has main() is compiled once, and by clang in half the
# time.
libs=$catch
if [ -z "$catch" ]; then
	libs=$work/main.o
	echo '#include <catch2/catch.hpp>' >"$work/main.cc"
	# ccache keeps neither what comes by a pipe nor what has other names.
	fast=$(command -v clang++) || fast=$cxx
	(cd "$work" && $fast -O0 -DCATCH_CONFIG_MAIN -c main.cc)
fi

# lines PROGRAM: the failed tests in $work/failed.
lines() {
	"$1" >"$work/out"
	# The name stands between two lines.
	awk '/^---/ { getline; print; getline }' "$work/out" >"$work/failed"
}

for with in $(compilers g++ clang++); do
	for level in O0 O2; do
		name="truth, $with -$level"
		compile "$with" "$work/truth_of_catch" -std=c++17 "-$level" \
			$glue/truth/catch2.cc || continue
		export LD_PRELOAD="$zeroed"
		lines "$work/truth_of_catch"
		unset LD_PRELOAD
		same "$truth" "$work/failed"
	done
done

name=example
shown=$work/out
compile "$cxx" "$work/example" -std=c++17 examples/leaks_catch2.cpp
lines "$work/example"
[ "$(cat "$work/failed")" = 'array only' ] || fail "$(cat "$work/failed")"
like "$work/out" 'test cases: *3 \| *2 passed \| *1 failed'
has "$work/out" 'array only lost 72 bytes in 3 allocations'
has "$work/out" "examples/leaks_catch2.cpp:$(grep -n 'array only' \
    examples/leaks_catch2.cpp | cut -d : -f 1): FAILED"

name=ends
# shellcheck disable=SC2086 # words
$cxx $strict -std=c++17 -DSECOND_FILE -c $glue/ends_catch2.cc $ours \
	-o "$work/second.o" || fail "does not compile"
compile "$cxx" "$work/ends" -std=c++17 $glue/ends_catch2.cc "$work/second.o"
lines "$work/ends"
printf '%s\n' fails throws sections 'loses of fixture' 'loses in second file' \
	>"$work/ends_fail"
same "$work/ends_fail" "$work/failed"
[ "$(grep -c ' lost [0-9]* bytes in 1 allocation' "$work/out")" -eq 3 ] ||
	fail "not three losses"
exit $((failures > 0))
