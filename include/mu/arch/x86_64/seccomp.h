#ifndef MU_ARCH_X86_64_SECCOMP_H
#define MU_ARCH_X86_64_SECCOMP_H

#define MU_AUDIT_ARCH AUDIT_ARCH_X86_64
#define MU_TRAPPED_FIRST offsetof(ucontext_t, uc_mcontext.gregs[REG_RDI])
#define MU_TRAPPED_SECOND offsetof(ucontext_t, uc_mcontext.gregs[REG_RSI])
#define MU_TRAPPED_RESULT offsetof(ucontext_t, uc_mcontext.gregs[REG_RAX])

#endif
