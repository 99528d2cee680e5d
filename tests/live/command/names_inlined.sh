#!/bin/sh
# An inlined function and its caller have separate lines, wherever addresses
# get names: heap dumps as text, page and difference, logs.
set -u
. tests/support/script_setup.sh
command=$build/memunreachable
recorder=$build/libmemunreachable-malloc-debug.so.0
unset DEBUGINFOD_URLS

cat >"$work/inlined.c" <<'END'
#include <malloc.h>
#include <stdlib.h>

void *kept[64];

static inline __attribute__((always_inline)) void *
inner_make(size_t size)
{
	void *block = malloc(size); /* INNER */
	__asm__ volatile("" : "+r"(block));
	return block;
}

__attribute__((noinline)) void
outer_make(int i, size_t size)
{
	kept[i] = inner_make(size); /* OUTER */
	__asm__ volatile("");
}

int
main(int argc, char **argv)
{
	int i;

	(void)argv;
	for (i = 0; i < 16 * argc; i++)
		outer_make(i, 1000);
	return 0;
}
END
inner=$(grep -n INNER "$work/inlined.c" | cut -d: -f1)
outer=$(grep -n OUTER "$work/inlined.c" | cut -d: -f1)
if ! ${CC:-cc} -g -O2 -o "$work/prog" "$work/inlined.c"; then
	echo "SKIPPED: names_inlined: no compiler"
	exit 77
fi

# record FILE ARGUMENT...: a heap dump of the end of the program.
record() {
	dump=$1
	shift
	LIBC_DEBUG_MALLOC_OPTIONS="backtrace=16 backtrace_dump_on_exit \
backtrace_dump_prefix=$work/dump" LD_PRELOAD=$recorder "$work/prog" "$@" \
	    >"$work/out" 2>&1
	mv "$work"/dump.*.exit* "$dump" 2>/dev/null || mv "$work"/dump* "$dump"
}

# has FILE: both functions, each with its own line, and no other pairs.
has() {
	if ! grep -q "inner_make at .*inlined.c:$inner" "$1" ||
	    ! grep -q "outer_make at .*inlined.c:$outer" "$1"; then
		fail "not both functions in $(cat "$1")"
	fi
	! grep -q "outer_make at .*inlined.c:$inner" "$1" ||
		fail "the line of another function"
}

name='heap dump'
record "$work/one"
record "$work/two" more
"$command" --heap-dump "$work/one" >"$work/text" 2>&1
has "$work/text"

name='page'
"$command" --heap-dump "$work/one" --html "$work/page" >"$work/text" 2>&1
has "$work/page"

name='difference'
"$command" --diff "$work/one" "$work/two" >"$work/text" 2>&1
has "$work/text"

name='log'
place=$(objdump -d --no-show-raw-insn "$work/prog" |
	sed -n '/<outer_make>:/,/ret/p' | grep -A1 'call.*malloc' | tail -1 |
	sed 's/^ *\([0-9a-f]*\):.*/\1/')
printf '  #00  pc %016x  %s\n' $((0x$place - 1)) "$work/prog" |
	"$command" --symbolize >"$work/text"
if ! grep -q "(inner_make) .*inlined.c:$inner" "$work/text" ||
    ! grep -q "inlined into (outer_make) .*inlined.c:$outer" "$work/text"; then
	fail "not both functions in $(cat "$work/text")"
fi

# Each address of a large file costs as much as one of a small file does.
name='many functions'
awk 'BEGIN {
	print "static inline __attribute__((always_inline)) int"
	print "put_in(int x) { return x * 3; }"
	for (i = 0; i < 20000; i++)
		printf "int many_%d(int x)\n{\n\treturn put_in(x);\n}\n", i
}' >"$work/many.c"
# A relative name, so that ccache keeps it.
# shellcheck disable=SC2086 # words
(cd "$work" && made many.so ${CC:-cc} -g -fPIC -shared \
    -fdebug-prefix-map="$work=." many.c) || fail "no library"
nm "$work/many.so" | awk -v file="$work/many.so" '/ T many_/ {
	printf "  #00  pc %s  %s\n", $1, file
}' >"$work/log"
timeout 60 "$command" --symbolize "$work/log" >"$work/text" ||
	fail "status $?"
[ "$(grep -c '(many_[0-9]*) .*many.c:' "$work/text")" -eq 20000 ] ||
	fail "not all of them: $(head -n 3 "$work/text")"

[ "$failures" -eq 0 ]
