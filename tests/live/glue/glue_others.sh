#!/bin/sh
# The examples for cmocka, doctest, Boost.Test, Rust and Go: of three tests the one
# that loses memory fails.
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

name=Rust
if ! command -v rustc >/dev/null; then
	echo "SKIPPED: no $name"
elif rustc --edition 2021 --test -o "$work/rust" -L "$build" \
	-C link-arg="-Wl,-rpath,$build" examples/leaks_rust.rs 2>"$work/out"; then
	RUST_BACKTRACE=0 "$work/rust" >"$work/out" 2>&1
	has "$work/out" 'array_only lost 72 bytes in 3 allocations'
	has "$work/out" "examples/leaks_rust.rs:$(grep -n '"array_only"' \
		examples/leaks_rust.rs | cut -d : -f 1):"
	has "$work/out" 'FAILED. 2 passed; 1 failed'
else
	fail "does not compile"
fi

name=Go
if ! command -v go >/dev/null; then
	echo "SKIPPED: no $name"
else
	cat >"$work/memunreachable.pc" <<END
Name: memunreachable
Description: of this build
Version: 0
Cflags: -I$PWD/include
Libs: -L$build -lmemunreachable
END
	(cd examples && GO111MODULE=off GOCACHE=$build/gocache PKG_CONFIG_PATH=$work \
		LD_LIBRARY_PATH=$build go test -v -count=1 ./leaks_go) >"$work/out" 2>&1
	has "$work/out" 'TestArrayOnly lost 72 bytes in 3 allocations'
	has "$work/out" "split_test.go:$(($(grep -n TestArrayOnly \
		examples/leaks_go/split_test.go | cut -d : -f 1) + 1)):"
	[ "$(grep -c -e '^--- PASS' "$work/out")" -eq 2 ] || fail "not two passed"
	[ "$(grep -c -e '^--- FAIL' "$work/out")" -eq 1 ] || fail "not one failed"
fi
exit $((failures > 0))
