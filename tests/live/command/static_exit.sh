#!/bin/sh
# The stack of a program that the command itself checks at its end begins where
# it called exit(): what main() held is lost, and what the caller of exit() holds
# is not, neither in its frame nor in a register that exit() has saved. Static
# programs are checked so, and those in which the library can open no file.
set -u
. tests/support/command/command.sh

cat >"$work/holds.c" <<'END'
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

static void *make(int i)
{
	return memset(malloc(100 + i), 'x', 100 + i);
}
/* The blocks lie N bytes deeper in the frame, which is dead at the end. */
static __attribute__((noinline)) int fill(int n)
{
	void *volatile blocks[8];
	volatile char room[n];
	int i;

	room[0] = 0;
	for (i = 0; i < 8; i++)
		blocks[i] = make(i);
	return room[0];
}
static __attribute__((noinline)) void end_with_frame(void)
{
	void *volatile blocks[8];
	int i;

	for (i = 0; i < 8; i++)
		blocks[i] = make(i);
	exit(0);
}
#ifdef __x86_64__
static __attribute__((noinline)) void end_with_register(void)
{
	register void *block __asm__("rbx") = make(0);

	__asm__ volatile("xor %%eax, %%eax" : "+r"(block) : : "rax");
	__asm__ volatile("xor %%edi, %%edi\n\tcall exit"
			 : : "r"(block) : "rdi");
}
#endif
int main(int argc, char **argv)
{
	const struct rlimit none = { 0, 0 };
	char *p[8];
	int i;

	setrlimit(RLIMIT_NOFILE, &none);
	if (argv[1][0] == 'f')
		end_with_frame();
#ifdef __x86_64__
	if (argv[1][0] == 'r')
		end_with_register();
#endif
	if (argv[1][0] == 'd')
		return fill(atoi(argv[1] + 1));
	for (i = 0; i < 8; i++)
		p[i] = make(i);
	return p[0] == NULL;
}
END

for flags in '-static -O0' '-static-pie -O0' '-static -O2' -O0 \
    '-O0 -fno-plt' '-static -O0 -s' '-static-pie -O0 -s' '-static -O2 -s'; do
	name=$flags
	# shellcheck disable=SC2086
	${CC:-cc} -w $flags -o "$work/holds" "$work/holds.c" 2>"$out" || {
		echo "SKIPPED: static_exit: $name: cannot be built"
		continue
	}
	[ "${flags#-static -O2}" != "$flags" ] || {
		run 23 -- "$work/holds" main
		has "$err" ' in 8 allocations unreachable out of '
	}
	for room in 16 64 128 256 400; do
		run 23 -- "$work/holds" "d$room"
		has "$err" ' in 8 allocations unreachable out of '
	done
	run 0 -- "$work/holds" frame
	[ "$(uname -m)" != x86_64 ] || run 0 -- "$work/holds" register
	has_no "$err" partial
done

[ "$failures" -eq 0 ]
