/*
 * What a seccomp(2) filter needs to know about the CPU.
 *
 * Runs in: any.
 */
#ifndef MU_ARCH_SECCOMP_H
#define MU_ARCH_SECCOMP_H

#include <linux/audit.h>
#include <stddef.h>
#include <ucontext.h>

#include "mu/arch/chosen.h"

/*
 * MU_AUDIT_ARCH: seccomp_data.arch of our own calls. MU_TRAPPED_...: the first
 * two arguments and the result of the call, in the ucontext_t of a SIGSYS
 * handler.
 */
#include MU_ARCH(seccomp.h)

#endif
