/* Old pointers go: out of the dead part of the stack and the registers. */
#include <string.h>

#include "tests/corpus/support/corpus.h"
#include "tests/support/clear_vectors.h"

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
