/*
 * Clear the vector registers of the calling thread: libc's memcpy() and others
 * leave words in their upper halves, and from zmm16 on.
 */
#ifndef TESTS_SUPPORT_CLEAR_VECTORS_H
#define TESTS_SUPPORT_CLEAR_VECTORS_H

#if defined(__x86_64__)
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

static __attribute__((noinline)) void
clear_vectors(void)
{
#if defined(__x86_64__)
	if (__builtin_cpu_supports("avx512f"))
		clear_avx512();
	if (__builtin_cpu_supports("avx"))
		clear_avx();
#endif
}

#endif
