#include "tests/support/stop/filled_registers.h"

#if defined(__x86_64__)
#define VECTOR_WORDS 8 /* of a zmm register */

/* For the code below. */
__attribute__((visibility("hidden"))) int hold_ready, hold_quit;
__attribute__((visibility("hidden"))) uintptr_t hold_general[15];
__attribute__((visibility("hidden"))) uintptr_t hold_vectors[32][VECTOR_WORDS]
    __attribute__((aligned(64)));

void hold_xmm(void);
void hold_ymm(void);
void hold_zmm(void);

#define HOLD(name, load)                                               \
	__asm__(".text\n" name ":\n\t"                                 \
		"push %rbx\n\tpush %rbp\n\tpush %r12\n\tpush %r13\n\t" \
		"push %r14\n\tpush %r15\n\t" load                      \
		"mov hold_general+0(%rip), %r15\n\t"                   \
		"mov hold_general+8(%rip), %r14\n\t"                   \
		"mov hold_general+16(%rip), %r13\n\t"                  \
		"mov hold_general+24(%rip), %r12\n\t"                  \
		"mov hold_general+32(%rip), %rbp\n\t"                  \
		"mov hold_general+40(%rip), %rbx\n\t"                  \
		"mov hold_general+48(%rip), %r11\n\t"                  \
		"mov hold_general+56(%rip), %r10\n\t"                  \
		"mov hold_general+64(%rip), %r9\n\t"                   \
		"mov hold_general+72(%rip), %r8\n\t"                   \
		"mov hold_general+80(%rip), %rax\n\t"                  \
		"mov hold_general+88(%rip), %rcx\n\t"                  \
		"mov hold_general+96(%rip), %rdx\n\t"                  \
		"mov hold_general+104(%rip), %rsi\n\t"                 \
		"mov hold_general+112(%rip), %rdi\n\t"                 \
		"movl $1, hold_ready(%rip)\n"                          \
		"1:\tpause\n\t"                                        \
		"cmpl $0, hold_quit(%rip)\n\t"                         \
		"je 1b\n\t"                                            \
		"pop %r15\n\tpop %r14\n\tpop %r13\n\tpop %r12\n\t"     \
		"pop %rbp\n\tpop %rbx\n\tret\n")

#define SIXTEEN "0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15"

HOLD("hold_xmm",
    ".irp i," SIXTEEN "\n\t"
    "movdqa hold_vectors+\\i*64(%rip), %xmm\\i\n\t.endr\n\t");
HOLD("hold_ymm",
    ".irp i," SIXTEEN "\n\t"
    "vmovdqa hold_vectors+\\i*64(%rip), %ymm\\i\n\t.endr\n\t");
HOLD("hold_zmm",
    ".irp i," SIXTEEN ",16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31\n\t"
    "vmovdqa64 hold_vectors+\\i*64(%rip), %zmm\\i\n\t.endr\n\t");

const struct kind kinds[] = {
	{ "sse2", hold_xmm, 16, 2 },
	{ "avx", hold_ymm, 16, 4 },
	{ "avx512f", hold_zmm, 32, 8 },
};

bool
has(const struct kind *kind)
{
	bool yes = kind->words == 2 ||
	    (kind->words == 4 && __builtin_cpu_supports("avx")) ||
	    (kind->words == 8 && __builtin_cpu_supports("avx512f"));

	if (!yes)
		printf("SKIPPED: the CPU has no %s\n", kind->name);
	return yes;
}

uintptr_t
vector_plant(unsigned reg, unsigned word)
{
	return PLANT + 0x1000 + 0x10 * (reg * VECTOR_WORDS + word);
}

int holder_tid;

void *
holder(void *arg)
{
	const struct kind *kind = arg;

	syscall(SYS_arch_prctl, 0x1001 /* ARCH_SET_GS */, PLANT + 0x800);
	holder_tid = mu_sys_gettid();
	kind->hold();
	syscall(SYS_arch_prctl, 0x1001, 0);
	return NULL;
}

pthread_t
start_holder(void *(*body)(void *), const struct kind *kind)
{
	pthread_t thread;
	unsigned i, k;

	for (i = 0; i < 15; i++)
		hold_general[i] = PLANT + 0x10 * i;
	for (i = 0; i < 32; i++)
		for (k = 0; k < VECTOR_WORDS; k++)
			hold_vectors[i][k] = vector_plant(i, k);
	thread = stop_spawn(body, (void *)(uintptr_t)kind);
	stop_await(&hold_ready, 1);
	return thread;
}

void
end_holder(pthread_t thread)
{
	stop_set(&hold_quit, 1);
	ck_assert_int_eq(pthread_join(thread, NULL), 0);
}

#endif
