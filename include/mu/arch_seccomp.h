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

/*
 * MU_AUDIT_ARCH: seccomp_data.arch of our own calls. MU_TRAPPED_...: the first
 * two arguments and the result of the call, in the ucontext_t of a SIGSYS
 * handler.
 */
#if defined(__x86_64__)
#define MU_AUDIT_ARCH AUDIT_ARCH_X86_64
#define MU_TRAPPED_FIRST offsetof(ucontext_t, uc_mcontext.gregs[REG_RDI])
#define MU_TRAPPED_SECOND offsetof(ucontext_t, uc_mcontext.gregs[REG_RSI])
#define MU_TRAPPED_RESULT offsetof(ucontext_t, uc_mcontext.gregs[REG_RAX])
#elif defined(__aarch64__)
#define MU_AUDIT_ARCH AUDIT_ARCH_AARCH64
#define MU_TRAPPED_FIRST offsetof(ucontext_t, uc_mcontext.regs[0])
#define MU_TRAPPED_SECOND offsetof(ucontext_t, uc_mcontext.regs[1])
#define MU_TRAPPED_RESULT offsetof(ucontext_t, uc_mcontext.regs[0])
#else
#error "no seccomp numbers for this CPU"
#endif

#endif
