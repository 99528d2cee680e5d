/*
 * What unwinding needs to know about the CPU: x86-64 and aarch64.
 *
 * - DWARF numbers of the frame pointer, the stack pointer and the return
 *   address (x86-64 psABI table 3.36; DWARF for the Arm 64-bit Architecture,
 *   4.1);
 * - MU_UNWIND_CALL: distance from a return address back into the call
 *   instruction;
 * - MU_UNWIND_LINK: the return address is passed in a register and stored
 *   beside the frame pointer; otherwise it is always right below the CFA;
 * - where a signal frame holds registers, relative to sp after the return of
 *   the handler; and the code that the handler returns to, for which the unwind
 *   tables of aarch64's vDSO have no entry since Linux 5.10.
 *
 * Runs in: any.
 */
#ifndef MU_ARCH_UNWIND_H
#define MU_ARCH_UNWIND_H

#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <ucontext.h>

#if defined(__x86_64__)

#define MU_DWARF_FP 6  /* rbp */
#define MU_DWARF_SP 7  /* rsp */
#define MU_DWARF_RA 16 /* column of the return address */

#define MU_UNWIND_CALL 1 /* the call ends right before */
#define MU_UNWIND_LINK 0

/* The call pushed the return address, so a frame has at least one word. */
#define MU_UNWIND_LEAST 8

/* struct rt_sigframe begins with pretcode, which the return has popped. */
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

#elif defined(__aarch64__)

#define MU_DWARF_FP 29
#define MU_DWARF_SP 31
#define MU_DWARF_RA 30 /* x30 */

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

/*
 * Strip the pointer authentication code with XPACLRI, a hint that CPUs without
 * it ignore.
 */
static inline uintptr_t
mu_unwind_strip(uintptr_t address)
{
	register uintptr_t x30 __asm__("x30") = address;

	__asm__("hint #7" : "+r"(x30));
	return x30;
}

#else
#error "memunreachable knows x86-64 and aarch64"
#endif

#endif
