#ifndef MU_ARCH_AARCH64_UNWIND_H
#define MU_ARCH_AARCH64_UNWIND_H

#define MU_DWARF_FP 29
#define MU_DWARF_SP 31
#define MU_DWARF_RA 30 /* x30 */
#define MU_DWARF_GENERAL 31

#define MU_UNWIND_CALL 4 /* every instruction has four bytes */
#define MU_UNWIND_LINK 1
#define MU_UNWIND_LEAST 0

/* struct rt_sigframe: siginfo_t, ucontext. */
#define MU_SIGNAL_FRAME sizeof(siginfo_t)
#define MU_SIGNAL_PC offsetof(ucontext_t, uc_mcontext.pc)
#define MU_SIGNAL_SP offsetof(ucontext_t, uc_mcontext.sp)
#define MU_SIGNAL_FP offsetof(ucontext_t, uc_mcontext.regs[29])
#define MU_SIGNAL_LINK offsetof(ucontext_t, uc_mcontext.regs[30])

/* mov x8, #139; svc #0 */
#define MU_SIGRETURN_BYTES                               \
	{                                                \
		0x68, 0x11, 0x80, 0xd2, 0x01, 0, 0, 0xd4 \
	}

/* XPACLRI, a hint that CPUs without it ignore. */
static inline uintptr_t
mu_unwind_strip(uintptr_t address)
{
	register uintptr_t x30 __asm__("x30") = address;

	__asm__("hint #7" : "+r"(x30));
	return x30;
}

#endif
