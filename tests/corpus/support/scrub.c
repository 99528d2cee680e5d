/* Old pointers go: out of the dead part of the stack and the registers. */
#include <string.h>

#include "tests/corpus/support/corpus.h"

#define DEAD_STACK (192 * 1024) /* a thread has 8 MiB */

/* Callee-saved registers are not ours to clear: the caller saved them. */
static void
clear_registers(void)
{
#if defined(__x86_64__)
	__asm__ volatile("xor %%eax, %%eax\n\txor %%ecx, %%ecx\n\t"
			 "xor %%edx, %%edx\n\txor %%esi, %%esi\n\t"
			 "xor %%edi, %%edi\n\txor %%r8d, %%r8d\n\t"
			 "xor %%r9d, %%r9d\n\txor %%r10d, %%r10d\n\t"
			 "xor %%r11d, %%r11d\n\t"
			 "xor %%ebx, %%ebx\n\txor %%r12d, %%r12d\n\t"
			 "xor %%r13d, %%r13d\n\txor %%r14d, %%r14d\n\t"
			 "xor %%r15d, %%r15d"
			 :
			 :
			 : "rax", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10",
			 "r11", "rbx", "r12", "r13", "r14", "r15", "cc",
			 "memory");
#endif
}

#if defined(__x86_64__)
/* Clear the vector registers, in which memcpy() and others leave contents. */
static __attribute__((target("avx"))) void
clear_avx(void)
{
	__asm__ volatile("vzeroall" : : : "memory");
}

static __attribute__((target("avx512f"))) void
clear_avx512(void)
{
#define CLEAR(n) "vpxord %%zmm" #n ", %%zmm" #n ", %%zmm" #n "\n\t"
	__asm__ volatile(CLEAR(16) CLEAR(17) CLEAR(18) CLEAR(19) CLEAR(
	    20) CLEAR(21) CLEAR(22) CLEAR(23) CLEAR(24) CLEAR(25) CLEAR(26)
			     CLEAR(27) CLEAR(28) CLEAR(29) CLEAR(30) CLEAR(31)
			 :
			 :
			 : "memory");
#undef CLEAR
}
#endif

static NOINLINE void
clear_vectors(void)
{
#if defined(__x86_64__)
	if (__builtin_cpu_supports("avx512f"))
		clear_avx512();
	if (__builtin_cpu_supports("avx"))
		clear_avx();
#endif
}

static NOINLINE void
clear_stack(void)
{
	volatile char dead[DEAD_STACK];

	memset((char *)dead, 0, sizeof(dead));
	corpus_use((char *)dead);
}

void
corpus_scrub(void)
{
	clear_stack();
	clear_vectors();
	clear_registers();
}
