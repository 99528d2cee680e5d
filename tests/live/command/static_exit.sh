#!/bin/sh
# The stack of a program that the command itself checks at its end begins where
# it called exit(): what main() held is lost, and what the caller of exit() holds
# is not, neither in its frame nor in a register that exit() has saved. Static
# programs are checked so, and those in which the library can open no file. The
# same holds for the other calls that end a program, and no function that calls
# others has a red zone.
set -u
. tests/support/command/command.sh

cat >"$work/holds.c" <<'END'
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

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
static __attribute__((noinline)) void end(const char *how)
{
	if (strcmp(how, "_exit") == 0)
		_exit(0);
	if (strcmp(how, "quick_exit") == 0)
		quick_exit(0);
	if (strcmp(how, "abort") == 0)
		abort();
	if (strcmp(how, "raise") == 0)
		raise(SIGTERM);
	if (strcmp(how, "kill") == 0)
		kill(getpid(), SIGTERM);
#ifdef __x86_64__
	/* Registers of the last call count. */
	__asm__ volatile("xor %%ecx, %%ecx\n\txor %%edx, %%edx\n\t"
			 "xor %%esi, %%esi\n\txor %%edi, %%edi\n\t"
			 "xor %%r8d, %%r8d\n\txor %%r9d, %%r9d\n\t"
			 "xor %%r10d, %%r10d\n\txor %%r11d, %%r11d\n\t"
			 "pxor %%xmm0, %%xmm0\n\tpxor %%xmm1, %%xmm1\n\t"
			 "movl $1, 0"
			 : : : "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10",
			 "r11", "xmm0", "xmm1", "memory");
#endif
	*(volatile int *)0 = 1;
}
/* The blocks are in the frame right below that of main(). */
static __attribute__((noinline)) void lose(void)
{
	void *volatile blocks[8];
	int i;

	for (i = 0; i < 8; i++)
		blocks[i] = make(i);
}
static __attribute__((noinline)) void end_held(const char *how)
{
	void *volatile blocks[8];
	int i;

	for (i = 0; i < 8; i++)
		blocks[i] = make(i);
	end(how);
	__asm__ volatile("" : : : "memory");
}
#ifdef __x86_64__
/* Functions of libc save the register, or not. */
static __attribute__((noinline)) void end_saved(const char *how)
{
	register void *block __asm__("rbx") = make(0);

	__asm__ volatile("xor %%eax, %%eax" : "+r"(block) : : "rax");
	if (how[0] == 'a')
		__asm__ volatile("call abort" : : "r"(block));
	else if (how[0] == 'r')
		__asm__ volatile("mov $15, %%edi\n\tcall raise"
				 : : "r"(block) : "rdi");
	else
		__asm__ volatile("xor %%edi, %%edi\n\tcall quick_exit"
				 : : "r"(block) : "rdi");
}
/* A leaf function keeps the only pointer in its red zone. */
void leaf(void *block);
__asm__(".text\n\t.type leaf, %function\nleaf:\n\t"
	"mov %rdi, -24(%rsp)\n\txor %edi, %edi\n\tmov %edi, (%rdi)\n\tret\n\t"
	".size leaf, .-leaf");
static __attribute__((noinline)) void end_leaf(void)
{
	void *block = make(0);

	__asm__ volatile("xor %%eax, %%eax" : "+D"(block) : : "rax");
	leaf(block);
}
#endif
int main(int argc, char **argv)
{
	const struct rlimit none = { 0, 0 };
	char *p[8];
	int i;

	setrlimit(RLIMIT_NOFILE, &none);
	if (argc > 2 && argv[1][0] == 'l')
		lose();
	if (argc > 2 && argv[1][0] == 'h')
		end_held(argv[2]);
#ifdef __x86_64__
	if (argc > 2 && argv[1][0] == 's')
		end_saved(argv[2]);
	if (argc > 2 && argv[1][0] == 'z')
		end_leaf();
#endif
	if (argc > 2)
		end(argv[2]);
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

# ends COUNT ARG...: that many blocks are lost, whatever the status.
ends() {
	wanted=$1
	shift
	name="$flags $*"
	"$command" -- "$work/holds" "$@" </dev/null >"$out" 2>"$err"
	has "$err" " in $wanted allocations unreachable out of "
	has_no "$err" partial
}

# shellcheck disable=SC3045 # dash and bash have it
ulimit -c 0
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
	# Functions are known by their names.
	[ "${flags% -s}" = "$flags" ] || continue
	for end in _exit quick_exit abort raise kill fault; do
		ends 8 lost $end
		ends 0 held $end
	done
	[ "$(uname -m)" = x86_64 ] || continue
	for end in abort raise quick_exit; do
		ends 0 saved $end
	done
	ends 0 zone fault
done

[ "$failures" -eq 0 ]
