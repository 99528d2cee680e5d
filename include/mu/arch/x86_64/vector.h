#ifndef MU_ARCH_X86_64_VECTOR_H
#define MU_ARCH_X86_64_VECTOR_H

/* NT_X86_XSTATE: x87, xmm, ymm, zmm and all that XCR0 enables. */
#define MU_NT_VECTOR 0x202

/*
 * All but AMX's tiles, which CPUs place from byte 2816 on. XSTATE_BV, at byte
 * 512, has a bit for each component in use; components up to PKRU (9) lie below
 * 2816 on every CPU so far.
 */
#define MU_VECTOR_FIRST 3072

static inline bool
mu_arch_vector_has_more(const uintptr_t *area)
{
	return area[512 / sizeof(*area)] >> 10 != 0;
}

#endif
