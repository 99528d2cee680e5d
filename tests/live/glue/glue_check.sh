#!/bin/sh
# Check: a test fails for what it lost, with its name and line, in fork mode and
# with CK_NOFORK; no other test does.
set -u
. tests/support/script_setup.sh
. tests/support/glue_setup.sh
libs=$(pkg-config --cflags --libs check) || exit 77

# lines FORK PROGRAM: "line test" of each failure, in $work/lines; the output is
# in $work/out.
lines() {
	CK_FORK=$1 "$2" >"$work/out" 2>&1
	sed -n 's/.*:\([0-9]*\):[EFS]:[a-z]*:\([a-z_]*\):.*/\1 \2/p' \
		"$work/out" >"$work/lines"
}

for with in $(compilers gcc clang); do
	for level in O0 O2; do
		compile "$with" "$work/truth_check" -D_GNU_SOURCE "-$level" \
			$glue/truth/check.c || continue
		for forks in yes no; do
			name="truth, $with -$level, CK_FORK=$forks"
			export LD_PRELOAD="$zeroed"
			lines $forks "$work/truth_check"
			unset LD_PRELOAD
			cut -d ' ' -f 2 "$work/lines" >"$work/failed"
			same "$truth" "$work/failed"
		done
		name="truth, $with -$level, no tcache"
		export GLIBC_TUNABLES=glibc.malloc.tcache_count=0
		lines no "$work/truth_check"
		unset GLIBC_TUNABLES
		! grep -q ' kept_' "$work/lines" ||
			fail "a test that lost nothing failed"
	done
done

name=example
compile "$cc" "$work/example" examples/leaks_check.c
for forks in yes no; do
	lines $forks "$work/example"
	has "$work/out" 'Checks: 3, Failures: 1, Errors: 0'
	[ "$(cat "$work/lines")" = "$(grep -n 'START_TEST(array_only)' \
	    examples/leaks_check.c | cut -d : -f 1) array_only" ] ||
		fail "$(cat "$work/lines")"
	has "$work/out" 'lost 72 bytes in 3 allocations'
done

name=ends
shown=$work/out
compile "$cc" "$work/ends" -D_GNU_SOURCE $glue/ends_check.c
lines yes "$work/ends"
has "$work/out" 'Checks: 9, Failures: 5, Errors: 0'
cut -d ' ' -f 2 "$work/lines" >"$work/failed"
printf '%s\n' asserts fails lost_by_fixture many_lost lost_at_last >"$work/ends_fail"
same "$work/ends_fail" "$work/failed"
has "$work/out" 'before the end'
lines no "$work/ends"
cut -d ' ' -f 2 "$work/lines" >"$work/failed"
same "$work/ends_fail" "$work/failed"
has "$work/out" 'Checks: 7, Failures: 5, Errors: 0'
exit $((failures > 0))
