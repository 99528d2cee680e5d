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
 * MU_NT_VECTOR is the register set; its first MU_VECTOR_FIRST bytes suffice for
 * almost all threads. mu_arch_vector_has_more() returns true if AREA, which has
 * these bytes, shows that the thread uses more.
 */
static inline bool mu_arch_vector_has_more(const uintptr_t *area);

#include MU_ARCH(vector.h)

#endif
