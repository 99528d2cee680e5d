#ifndef MU_ARCH_AARCH64_VECTOR_H
#define MU_ARCH_AARCH64_VECTOR_H

#define MU_NT_VECTOR 2 /* NT_PRFPREG: v0..v31 */

#define MU_VECTOR_FIRST 1024 /* more than the whole set */

static inline bool
mu_arch_vector_has_more(const uintptr_t *area)
{
	(void)area;
	return true;
}

#endif
