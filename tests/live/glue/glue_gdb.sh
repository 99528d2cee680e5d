#!/bin/sh
# gdb: what is lost and what holds a block, in a process and in a core file.
set -u
. tests/support/script_setup.sh
unset LD_PRELOAD MEMUNREACHABLE_OPTIONS
shown=$work/out
export MEMUNREACHABLE="$build/memunreachable" DEBUGINFOD_URLS=
if ! gdb -nx -batch -ex 'python print("here")' 2>/dev/null | grep -q here; then
	echo "SKIPPED: no gdb with Python"
	exit 77
fi
if ! may_trace_all || is_filtered; then
	echo "SKIPPED: gdb may trace nothing here"
	exit 77
fi
cat >"$work/program.c" <<'END'
#include <stdlib.h>
#include <string.h>
char *held;
static void lose(void)
{
	char *block = malloc(1000);

	memset(block, 'l', 1000);
	__asm__ volatile("" : : "r"(block) : "memory");
}
static void scrub(void)
{
	volatile char dead[16384];

	memset((char *)dead, 0, sizeof(dead));
}
void stop_here(void)
{
	__asm__ volatile("");
}
int main(void)
{
	held = malloc(2000);
	memset(held, 'h', 2000);
	lose();
	scrub();
	stop_here();
	return 0;
}
END
${CC:-cc} -g -O0 -o "$work/program" "$work/program.c" || exit 1
script=lib/glue/gdb/memunreachable.py
# One line, so that one argument is enough.
ask="-ex 'memunreachable leaks' -ex 'memunreachable why held'"

name=process
eval gdb -nx -batch -x "$script" -ex "'break stop_here'" -ex run "$ask" \
	-ex "'gcore $work/core'" "$work/program" >"$work/out" 2>&1 </dev/null
has "$work/out" ' 1000 bytes in 1 unreachable allocation'
like "$work/out" 'variable held in program'

name=core
eval gdb -nx -batch -x "$script" "$ask" -ex "'print \$memunreachable_status'" \
	"$work/program" "$work/core" >"$work/out" 2>&1 </dev/null
has "$work/out" ' 1000 bytes in 1 unreachable allocation'
like "$work/out" 'variable held in program'

name=nothing
gdb -nx -batch -x "$script" -ex 'memunreachable leaks' >"$work/out" 2>&1
has "$work/out" 'There is no process and no core file.'
gdb -nx -batch -x "$script" -ex 'memunreachable why' >"$work/out" 2>&1
has "$work/out" 'The address of a block is missing.'
exit $((failures > 0))
