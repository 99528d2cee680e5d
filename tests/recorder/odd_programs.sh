#!/bin/sh
# Unusual programs: some of the operators new, stacks that are replaced or
# small, modules at each other's addresses, allocations of no bytes.
set -u
. tests/recorder/core_play.inc

for options in "" backtrace leak_track backtrace_sample=64; do
	expect 0 "$options" "$here/odd_partial_new"
done

# A walk of 3 frames ends within the coroutine, and remembers nothing else.
for options in backtrace=3 backtrace "backtrace=3 leak_track"; do
	expect 0 "$options" "$here/odd_coroutine"
done

for options in backtrace=3 backtrace backtrace=64; do
	under "$options" "$here/odd_small_stack"
	case $? in
	0) ;;
	77) echo "SKIPPED: small stacks: a signal's frame takes over 4 KiB" ;;
	*) fail "small stacks: $options: $(tail -n 3 "$work/err")" ;;
	esac
done

expect 0 backtrace_sample=65536 "$here/odd_sample"

# Code with frame pointers and without tables, that libc's qsort() calls back:
# libc has tables and uses the register for something else. And what is first
# in a coroutine was called by no one.
cat >"$work/callback.c" <<'END'
#include <stdlib.h>
#include <ucontext.h>
#define PLACED __attribute__((noinline))
static int kept[300], done;
PLACED static void *inner(size_t size)
{
	void *volatile block = malloc(size);
	return block;
}
PLACED static int compare(const void *a, const void *b)
{
	if (done++ == 0)
		inner(4242);
	return *(const int *)a - *(const int *)b;
}
PLACED static int outer(void)
{
	int i;
	for (i = 0; i < 300; i++)
		kept[i] = 300 - i;
	qsort(kept, 300, sizeof(kept[0]), compare);
	return kept[0];
}
static ucontext_t outside, inside;
static char stack[65536];
PLACED static void body(void)
{
	inner(4243);
	swapcontext(&inside, &outside);
}
int main(void)
{
	int first = outer();
	getcontext(&inside);
	inside.uc_stack.ss_sp = stack;
	inside.uc_stack.ss_size = sizeof(stack);
	inside.uc_link = &outside;
	makecontext(&inside, body, 0);
	swapcontext(&outside, &inside);
	return first != 1;
}
END
for tables in -fno-asynchronous-unwind-tables -fasynchronous-unwind-tables; do
	# inlining off: a frame for each
	${CC:-cc} -O1 -g -fno-builtin -fno-omit-frame-pointer -fno-inline \
	    -fno-optimize-sibling-calls $tables -o "$work/callback" \
	    "$work/callback.c" || fail "callback: no compiler"
	for options in "backtrace=32 leak_track" "backtrace=9 leak_track" \
	    "backtrace=32 leak_track backtrace_full"; do
		under "$options" "$work/callback" || fail "callback: status $?"
		awk '/ leaked block of size / { on = / 4242 / }
			on && /#[0-9]/ { print $4, $5 }' "$work/err" \
			>"$work/stack"
		functions=$(awk '$2 ~ /callback$/ { print $1 }' "$work/stack" |
		    addr2line -f -e "$work/callback" | grep -v '[/?]' |
		    tr '\n' ' ' | sed 's/ $//')
		case $options in
		# The compiler's unwinder ends where the tables do.
		*full) [ $tables = -fasynchronous-unwind-tables ] || continue ;;
		*=32*)
			[ "$functions" = "inner compare outer main _start" ] ||
			    fail "callback: $tables: $functions"
			;;
		*)
			[ "$(wc -l <"$work/stack")" -eq 9 ] ||
			    fail "callback: $options: $(cat "$work/stack")"
			;;
		esac
		awk '/ leaked block of size / { on = / 4243 / }
			on && /#[0-9]/ { print $4, $5 }' "$work/err" \
			>"$work/stack"
		[ "$(wc -l <"$work/stack")" -eq 2 ] ||
		    fail "coroutine: $tables: $(cat "$work/stack")"
	done
done

# Frames of over 127 bytes: the code is as long in each, and so a return address
# is the same in all of them while the frame around it is not.
cat >"$work/plugin.c" <<'END'
#include <stdlib.h>
static __attribute__((noinline)) void *inner(size_t size)
{
	volatile char frame[FRAME];
	void *volatile block;
	frame[0] = 1;
	block = malloc(size + (size_t)frame[0]);
	return block;
}
void *entry(size_t size)
{
	volatile char frame[FRAME + 64];
	void *volatile block;
	frame[0] = 1;
	block = inner(size + (size_t)frame[0]);
	return block;
}
END
cat >"$work/reload.c" <<'END'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "memunreachable/malloc_debug.h"
#pragma weak malloc_backtrace
static int bad, reused;
static void *last_base;
static const char *last_file;
static int is(uintptr_t pc, const char *name)
{
	Dl_info info;
	return dladdr((void *)pc, &info) != 0 && info.dli_sname != NULL &&
	    strcmp(info.dli_sname, name) == 0;
}
static int in(uintptr_t pc, const void *base)
{
	Dl_info info;
	return dladdr((void *)pc, &info) != 0 && info.dli_fbase == base;
}
__attribute__((noinline)) void load(const char *file)
{
	uintptr_t frames[16];
	void *module = dlopen(file, RTLD_NOW), *block;
	void *(*entry)(size_t);
	Dl_info info;
	ssize_t i, num;
	if (module == NULL)
		exit(2);
	*(void **)&entry = dlsym(module, "entry");
	block = entry(100);
	num = malloc_backtrace(block, frames, 16);
	free(block);
	if (dladdr(*(void **)&entry, &info) == 0)
		exit(2);
	if (info.dli_fbase == last_base && file != last_file)
		reused++;
	last_base = info.dli_fbase;
	last_file = file;
	/* Behind main() are two or three of the C library's and the start. */
	if (num < 4 || num > 8 || !in(frames[0], info.dli_fbase) ||
	    !is(frames[1], "entry") || !is(frames[2], "load") ||
	    !is(frames[3], "main")) {
		bad++;
		fprintf(stderr, "%s at %p:", file, info.dli_fbase);
		for (i = 0; i < num; i++)
			fprintf(stderr, " %#lx", (unsigned long)frames[i]);
		fputc('\n', stderr);
	}
	dlclose(module);
}
int main(int argc, char **argv)
{
	if (argc != 4 || malloc_backtrace == NULL)
		return 2;
	for (int i = 0; i < 300; i++)
		load(argv[1 + (i * 7 + i / 5) % 3]);
	printf("%d\n", reused);
	return bad == 0 ? 0 : 1;
}
END
# For 0 bytes the block is a distinct one, and aligned. jemalloc 5.3.0 aligns
# memalign(64, 0) to 8 bytes only, but these two calls to 64.
cat >"$work/zero.c" <<'END'
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
int main(void)
{
	for (int i = 0; i < 20000; i++) {
		void *aligned = aligned_alloc(64, 0), *posix = NULL;
		if (aligned == NULL || posix_memalign(&posix, 64, 0) != 0 ||
		    posix == NULL || posix == aligned ||
		    (((uintptr_t)aligned | (uintptr_t)posix) & 63) != 0) {
			fprintf(stderr, "%d: %p %p\n", i, aligned, posix);
			return 1;
		}
		free(aligned);
		free(posix);
	}
	return 0;
}
END
compile() {
	${CC:-cc} -O2 -g -fno-builtin -fomit-frame-pointer "$@"
}

built=true
for frame in 256 576 1088; do
	compile -fPIC -shared -DFRAME=$frame -o "$work/plugin$frame.so" \
	    "$work/plugin.c" || built=false
done
compile -Iinclude -rdynamic -o "$work/reload" \
    "$work/reload.c" -ldl || built=false
compile -o "$work/zero" "$work/zero.c" || built=false
$built || {
	fail "no compiler"
	exit 1
}

for options in backtrace "backtrace backtrace_full" "backtrace guard"; do
	expect 0 "$options" "$work/reload" "$work/plugin256.so" \
	    "$work/plugin576.so" "$work/plugin1088.so"
	[ "$(cat "$work/out")" -gt 0 ] 2>/dev/null ||
	    echo "SKIPPED: modules: none took another's address"
done

for options in "" backtrace_sample=65536 backtrace_sample=16 leak_track; do
	expect 0 "$options" "$work/zero"
done
PRELOAD=$(/sbin/ldconfig -p 2>/dev/null |
    sed -n 's/.*libjemalloc\.so\.2 .*=> //p' | head -n 1)
if [ -n "$PRELOAD" ]; then
	for options in "" backtrace_sample=65536 backtrace_sample=16; do
		expect 0 "$options" "$work/zero"
	done
else
	echo "SKIPPED: no bytes: libjemalloc.so.2 is not here"
fi
[ "$failures" -eq 0 ]
