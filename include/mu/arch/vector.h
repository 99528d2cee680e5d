/*
 * The register set in which ptrace returns a thread's vector registers.
 *
 * Runs in: collector.
 */
#ifndef MU_ARCH_VECTOR_H
#define MU_ARCH_VECTOR_H

#include <stdbool.h>
#include <stdint.h>

#include "mu/arch/chosen.h"

/*
 * MU_NT_VECTOR: the register set. MU_VECTOR_FIRST: the bytes of it that suffice
 * for almost all threads. True if AREA, as much as that, shows that this thread
 * uses more.
 */
static inline bool mu_arch_vector_has_more(const uintptr_t *area);

#include MU_ARCH(vector.h)

#endif
