#ifndef MU_ARCH_X86_64_REMOTE_H
#define MU_ARCH_X86_64_REMOTE_H

#include <errno.h>
#include <linux/futex.h>
#include <sys/syscall.h>

#define MU_REMOTE_NOTE_CALL 0

/*
 * The kernel decides about a restart after the stop, from orig_rax and rax as
 * they are then (arch_do_signal_or_restart()). So writing back the registers
 * also restores the pending restart.
 */
#define MU_REMOTE_REWINDS false

#define MU_REMOTE_USER_CS 0x33         /* 64-bit code; 0x23 is 32-bit */
#define MU_REMOTE_X32_BIT 0x40000000ul /* __X32_SYSCALL_BIT */
#define MU_REMOTE_TRAP_FLAG 0x100ul    /* a trap after each instruction */

static inline bool
mu_arch_remote_in_call(const uintptr_t *general)
{
	return (intptr_t)general[MU_REG_ORIG_RAX] >= 0;
}

static inline bool
mu_arch_remote_native(const uintptr_t *general)
{
	return general[MU_REG_CS] == MU_REMOTE_USER_CS &&
	    (!mu_arch_remote_in_call(general) ||
		(general[MU_REG_ORIG_RAX] & MU_REMOTE_X32_BIT) == 0);
}

static inline void
mu_arch_remote_prepare(
    uintptr_t *general, uintptr_t code, long nr, const uintptr_t args[6])
{
	general[MU_REG_RIP] = code;
	general[MU_REG_RAX] = (uintptr_t)nr;
	/* orig_rax -1: not in a call, so the kernel restarts nothing. */
	general[MU_REG_ORIG_RAX] = ~(uintptr_t)0;
	general[MU_REG_FLAGS] &= ~MU_REMOTE_TRAP_FLAG;
	general[MU_REG_RDI] = args[0];
	general[MU_REG_RSI] = args[1];
	general[MU_REG_RDX] = args[2];
	general[MU_REG_R10] = args[3];
	general[MU_REG_R8] = args[4];
	general[MU_REG_R9] = args[5];
}

static inline void
mu_arch_remote_cancel(uintptr_t *general)
{
	general[MU_REG_ORIG_RAX] = ~(uintptr_t)0;
}

/*
 * The kernel has stored the rest of a sleep at REM. Arguments must stay as they
 * are: after a call the program may rely on these registers.
 */
static inline bool
mu_arch_ends_in_time(const uintptr_t *general)
{
	switch (general[MU_REG_ORIG_RAX]) {
	case SYS_nanosleep:
		return general[MU_REG_RDI] == general[MU_REG_RSI];
	case SYS_clock_nanosleep:
		return general[MU_REG_RDX] == general[MU_REG_R10];
	case SYS_poll:
		return (int)general[MU_REG_RDX] < 0;
	case SYS_futex: /* its time is absolute, that of FUTEX_WAIT is not */
		return (general[MU_REG_RSI] & FUTEX_CMD_MASK) ==
		    FUTEX_WAIT_BITSET;
	default:
		return false;
	}
}

static inline bool
mu_arch_avoid_restart(uintptr_t *general)
{
	const intptr_t no_interrupt = -513, restart_block = -516;

	if (!mu_arch_remote_native(general) ||
	    !mu_arch_remote_in_call(general) ||
	    (intptr_t)general[MU_REG_RAX] != restart_block)
		return false;
	general[MU_REG_RAX] =
	    (uintptr_t)(mu_arch_ends_in_time(general) ? no_interrupt : -EINTR);
	return true;
}

#endif
