# shellcheck shell=sh disable=SC2034,SC2154 # others use what is set here
# For scripts that compile tests with a framework and judge what fails.
unset LD_PRELOAD MEMUNREACHABLE_OPTIONS LIBC_DEBUG_MALLOC_OPTIONS
unset CK_FORK CK_RUN_CASE GTEST_FILTER
glue=tests/live/glue
zeroed=$build/tests/support/shims/zeroed_shim.so
cc=${CC:-cc}
cxx=${CXX:-c++}
ours="-Iinclude -I$glue -L$build -lmemunreachable -Wl,-rpath,$build -pthread"
strict='-g -Wall -Wextra -Wshadow -Werror'

# The compilers of C or C++ that are here: gcc clang, or g++ clang++.
compilers() {
	for compiler in "$@"; do
		if command -v "$compiler" >/dev/null; then
			echo "$compiler"
		else
			echo "SKIPPED: no $compiler" >&2
		fi
	done
}

# compile COMPILER PROGRAM WORD...: the words are options and files.
compile() {
	with=$1 output=$2
	shift 2
	# shellcheck disable=SC2086 # words
	made "$output" $with $strict "$@" $libs $ours 2>"$work/diagnostics" || {
		fail "does not compile"
		cat "$work/diagnostics"
		return 1
	}
}

# same WANTED GOT: two files of names.
same() {
	sort -u "$1" >"$work/wanted"
	sort -u "$2" >"$work/got"
	cmp -s "$work/wanted" "$work/got" && return
	fail "other tests failed than should have:"
	diff "$work/wanted" "$work/got"
}

# The truth: 18 of the 50 tests in bodies.def lose memory.
truth=$work/truth
sed -n 's/^T(\(lost_[a-z_]*\),.*/\1/p' $glue/truth/bodies.def >"$truth"
[ "$(wc -l <"$truth")" -eq 18 ] || fail "not 18 leaks"
[ "$(grep -c '^T(' $glue/truth/bodies.def)" -eq 50 ] || fail "not 50 tests"
