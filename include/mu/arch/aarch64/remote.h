#ifndef MU_ARCH_AARCH64_REMOTE_H
#define MU_ARCH_AARCH64_REMOTE_H

#define MU_REMOTE_NOTE_CALL 0x404 /* NT_ARM_SYSTEM_CALL; -1: in none */

/*
 * The kernel decides about a restart before the stop (do_signal in
 * arch/arm64/kernel/signal.c): pc is back at the instruction, and the call's
 * result is in a variable on the kernel's stack, which is lost when the thread
 * leaves the stop: a pause() would not return after a handler.
 */
#define MU_REMOTE_REWINDS true

static inline bool
mu_arch_remote_in_call(const uintptr_t *general)
{
	(void)general;
	return false;
}

static inline bool
mu_arch_remote_native(const uintptr_t *general)
{
	(void)general;
	return true;
}

static inline void
mu_arch_remote_prepare(
    uintptr_t *general, uintptr_t code, long nr, const uintptr_t args[6])
{
	size_t i;

	general[MU_REG_PC] = code;
	general[MU_REG_X8] = (uintptr_t)nr;
	for (i = 0; i < 6; i++)
		general[MU_REG_X0 + i] = args[i];
}

/* What the kernel has decided is not in the registers. */
static inline bool
mu_arch_avoid_restart(uintptr_t *general)
{
	(void)general;
	return false;
}

/* Writing the register set MU_REMOTE_NOTE_CALL cancels the call. */
static inline void
mu_arch_remote_cancel(uintptr_t *general)
{
	(void)general;
}

#endif
