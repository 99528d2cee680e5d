#!/bin/sh
# The examples for cmocka, doctest and Boost.Test: of three tests the one that
# loses memory fails.
set -u
. tests/support/script_setup.sh
. tests/support/glue_setup.sh
shown=$work/out

# is_there COMPILER LANGUAGE HEADER...: the headers of a framework.
is_there() {
	with=$1 language=$2
	shift 2
	printf '#include <%s>\n' "$@" |
		"$with" -E -x "$language" - >/dev/null 2>&1 && return
	echo "SKIPPED: no $name"
	return 1
}

name=cmocka
if is_there "$cc" c setjmp.h stdarg.h stddef.h stdint.h cmocka.h; then
	libs=-lcmocka
	compile "$cc" "$work/cmocka" examples/leaks_cmocka.c
	"$work/cmocka" >"$work/out" 2>&1
	has "$work/out" 'lost 72 bytes in 3 allocations'
	like "$work/out" 'ERROR +\] array_only'
	like "$work/out" 'PASSED +\] 2 test'
fi

name=doctest
if is_there "$cxx" c++ doctest/doctest.h; then
	libs=
	compile "$cxx" "$work/doctest" -std=c++17 examples/leaks_doctest.cpp
	"$work/doctest" --no-colors >"$work/out" 2>&1
	has "$work/out" 'lost 72 bytes in 3 allocations'
	has "$work/out" 'TEST CASE:  array only'
	like "$work/out" 'test cases: +3 \| +2 passed \| +1 failed'
fi

name=Boost.Test
if is_there "$cxx" c++ boost/test/unit_test.hpp; then
	libs=-lboost_unit_test_framework
	compile "$cxx" "$work/boost" -std=c++17 examples/leaks_boost.cpp
	"$work/boost" --color_output=no >"$work/out" 2>&1
	has "$work/out" 'in "array_only": the test lost 72 bytes in 3 allocations'
	has "$work/out" '1 failure is detected'
fi
exit $((failures > 0))
