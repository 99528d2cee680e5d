/*
 * A snapshot of a live process holds words that a victim has only in a
 * register, of any size.
 */
#include "tests/support/captured.h"
#include "tests/support/suite.h"

static size_t
in_registers(uintptr_t word)
{
	return occurrences(
	    captured_snap.values, captured_snap.num_values, word);
}

/*
 * Each spins with PLANT + 0x10 * place in one register, and nowhere else,
 * until told to quit; it counts as created when the word is there. The words
 * come hidden from shared memory.
 */
static void *
hold_general(void *unused)
{
	uintptr_t word = ~threaded_shared->words[0];

	(void)unused;
#if defined(__x86_64__)
	__asm__ volatile(
	    "movq %0, %%rbx\n\t"
	    "xorl %k0, %k0\n\t"
	    "lock incl (%2)\n"
	    "1:\tpause\n\t"
	    "cmpl $0, (%1)\n\t"
	    "je 1b\n\t"
	    : "+r"(word)
	    : "r"(&threaded_shared->quit), "r"(&threaded_shared->created)
	    : "rbx", "memory");
#else
	__asm__ volatile(
	    "mov x19, %0\n\t"
	    "mov %0, xzr\n"
	    "2:\tldaxr w20, [%2]\n\t"
	    "add w20, w20, #1\n\t"
	    "stlxr w21, w20, [%2]\n\t"
	    "cbnz w21, 2b\n"
	    "1:\tldr w20, [%1]\n\t"
	    "cbz w20, 1b\n\t"
	    : "+r"(word)
	    : "r"(&threaded_shared->quit), "r"(&threaded_shared->created)
	    : "x19", "x20", "x21", "memory");
#endif
	return NULL;
}

static void *
hold_vector(void *unused)
{
	uintptr_t word = ~threaded_shared->words[1];

	(void)unused;
#if defined(__x86_64__)
	__asm__ volatile(
	    "movq %0, %%xmm7\n\t"
	    "pslldq $8, %%xmm7\n\t" /* the upper half */
	    "xorl %k0, %k0\n\t"
	    "lock incl (%2)\n"
	    "1:\tpause\n\t"
	    "cmpl $0, (%1)\n\t"
	    "je 1b\n\t"
	    : "+r"(word)
	    : "r"(&threaded_shared->quit), "r"(&threaded_shared->created)
	    : "xmm7", "memory");
#else
	__asm__ volatile(
	    "mov v8.d[1], %0\n\t"
	    "mov %0, xzr\n"
	    "2:\tldaxr w20, [%2]\n\t"
	    "add w20, w20, #1\n\t"
	    "stlxr w21, w20, [%2]\n\t"
	    "cbnz w21, 2b\n"
	    "1:\tldr w20, [%1]\n\t"
	    "cbz w20, 1b\n\t"
	    : "+r"(word)
	    : "r"(&threaded_shared->quit), "r"(&threaded_shared->created)
	    : "v8", "x20", "x21", "memory");
#endif
	return NULL;
}

#if defined(__x86_64__)
static __attribute__((target("avx"))) void *
hold_ymm(void *unused)
{
	uintptr_t word = ~threaded_shared->words[2];

	(void)unused;
	__asm__ volatile(
	    "vmovq %0, %%xmm9\n\t"
	    "vinsertf128 $1, %%xmm9, %%ymm9, %%ymm9\n\t"
	    "vpermilpd $0, %%ymm9, %%ymm9\n\t"
	    "xorl %k0, %k0\n\t"
	    "lock incl (%2)\n"
	    "1:\tpause\n\t"
	    "cmpl $0, (%1)\n\t"
	    "je 1b\n\t"
	    "vzeroupper\n\t"
	    : "+r"(word)
	    : "r"(&threaded_shared->quit), "r"(&threaded_shared->created)
	    : "xmm9", "memory");
	return NULL;
}
#endif

static bool
has_avx(void)
{
#if defined(__x86_64__)
	return __builtin_cpu_supports("avx");
#else
	return false;
#endif
}

static void
plant_words(struct threaded_shared *shared)
{
	uintptr_t i;

	for (i = 0; i < 3; i++)
		shared->words[i] = ~(PLANT + 0x10 * i);
	threaded_spawn(hold_general, NULL);
	threaded_spawn(hold_vector, NULL);
#if defined(__x86_64__)
	if (has_avx())
		threaded_spawn(hold_ymm, NULL);
#endif
}

TEST(case_registers)
{
	struct threaded_child threaded = threaded_start(2, plant_words);

	threaded_await(&threaded.shared->created, has_avx() ? 3 : 2);
	take(threaded.pid);
	ck_assert_uint_eq(captured_snap.num_threads, has_avx() ? 6 : 5);
	ck_assert_uint_eq(in_registers(PLANT), 1);
	ck_assert_uint_eq(in_registers(PLANT + 0x10), 1);
	if (has_avx())
		/* Four lanes; the upper two only ymm can have. */
		ck_assert_uint_eq(in_registers(PLANT + 0x20), 4);
	else
		printf("SKIPPED: ymm registers, the CPU has none\n");
	threaded_end(&threaded);
}

SUITE(.setup = captured_setup, .teardown = captured_teardown);
