#ifndef MU_ARCH_AARCH64_SECCOMP_H
#define MU_ARCH_AARCH64_SECCOMP_H

#define MU_AUDIT_ARCH AUDIT_ARCH_AARCH64
#define MU_TRAPPED_FIRST offsetof(ucontext_t, uc_mcontext.regs[0])
#define MU_TRAPPED_SECOND offsetof(ucontext_t, uc_mcontext.regs[1])
#define MU_TRAPPED_RESULT offsetof(ucontext_t, uc_mcontext.regs[0])

#endif
