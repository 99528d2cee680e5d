#ifndef MU_ARCH_X86_64_UNWIND_H
#define MU_ARCH_X86_64_UNWIND_H

#define MU_DWARF_FP 6  /* rbp */
#define MU_DWARF_SP 7  /* rsp */
#define MU_DWARF_RA 16 /* column of the return address */
#define MU_DWARF_GENERAL 16

#define MU_UNWIND_CALL 1 /* a return address minus 1 lies inside the call */
#define MU_UNWIND_LINK 0

/* The call pushed the return address, so a frame has at least one word. */
#define MU_UNWIND_LEAST 8

/*
 * struct rt_sigframe begins with pretcode, which the handler's return has
 * popped.
 */
#define MU_SIGNAL_FRAME 0
#define MU_SIGNAL_PC offsetof(ucontext_t, uc_mcontext.gregs[REG_RIP])
#define MU_SIGNAL_SP offsetof(ucontext_t, uc_mcontext.gregs[REG_RSP])
#define MU_SIGNAL_FP offsetof(ucontext_t, uc_mcontext.gregs[REG_RBP])
#define MU_SIGNAL_LINK MU_SIGNAL_FP /* x86-64 has no link register */

/* mov $15, %rax; syscall */
#define MU_SIGRETURN_BYTES                                  \
	{                                                   \
		0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05 \
	}

static inline uintptr_t
mu_unwind_strip(uintptr_t address)
{
	return address;
}

#endif
