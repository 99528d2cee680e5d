/*
 * What a system call made in another process's thread depends on: the
 * instruction, and the registers in NT_PRSTATUS for number and arguments.
 *
 * Runs in: keeper.
 */
#ifndef MU_ARCH_REMOTE_H
#define MU_ARCH_REMOTE_H

#include <linux/audit.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mu/arch.h"

#if defined(__x86_64__)

#define MU_REMOTE_CODE "\x0f\x05" /* syscall */
#define MU_REMOTE_CODE_SIZE 2
#define MU_REMOTE_CODE_STEP 1 /* alignment of the instruction */

#define MU_REMOTE_ARCH AUDIT_ARCH_X86_64

/* The number of the call is in NT_PRSTATUS, not in a separate register set. */
#define MU_REMOTE_NOTE_CALL 0

/*
 * The kernel decides about a restart after the stop, from orig_rax and rax as
 * they are then (arch_do_signal_or_restart): restoring the registers restores
 * it all.
 */
#define MU_REMOTE_REWINDS false

/* struct user_regs_struct, in words. */
enum {
	MU_REMOTE_R10 = 7,
	MU_REMOTE_R9 = 8,
	MU_REMOTE_R8 = 9,
	MU_REMOTE_RAX = 10,
	MU_REMOTE_RDX = 12,
	MU_REMOTE_RSI = 13,
	MU_REMOTE_RDI = 14,
	MU_REMOTE_ORIG_RAX = 15,
	MU_REMOTE_RIP = 16,
	MU_REMOTE_CS = 17,
	MU_REMOTE_FLAGS = 18,
	MU_REMOTE_SS = 20,
};

#define MU_REMOTE_USER_CS 0x33         /* 64-bit code; 0x23 is 32-bit */
#define MU_REMOTE_X32_BIT 0x40000000ul /* __X32_SYSCALL_BIT */
#define MU_REMOTE_TRAP_FLAG 0x100ul    /* a trap after each instruction */

/*
 * True if the thread was stopped on its way out of a system call: the
 * instruction is then right before pc.
 */
static inline bool
mu_arch_remote_in_call(const uintptr_t *general)
{
	return (intptr_t)general[MU_REMOTE_ORIG_RAX] >= 0;
}

static inline bool
mu_arch_remote_native(const uintptr_t *general)
{
	return general[MU_REMOTE_CS] == MU_REMOTE_USER_CS &&
	    (!mu_arch_remote_in_call(general) ||
		(general[MU_REMOTE_ORIG_RAX] & MU_REMOTE_X32_BIT) == 0);
}

static inline uintptr_t
mu_arch_remote_pc(const uintptr_t *general)
{
	return general[MU_REMOTE_RIP];
}

/* Set GENERAL so that the instruction at CODE makes the call NR. */
static inline void
mu_arch_remote_prepare(
    uintptr_t *general, uintptr_t code, long nr, const uintptr_t args[6])
{
	general[MU_REMOTE_RIP] = code;
	general[MU_REMOTE_RAX] = (uintptr_t)nr;
	/* Not in a call: no restart on the way out. */
	general[MU_REMOTE_ORIG_RAX] = ~(uintptr_t)0;
	general[MU_REMOTE_FLAGS] &= ~MU_REMOTE_TRAP_FLAG;
	general[MU_REMOTE_RDI] = args[0];
	general[MU_REMOTE_RSI] = args[1];
	general[MU_REMOTE_RDX] = args[2];
	general[MU_REMOTE_R10] = args[3];
	general[MU_REMOTE_R8] = args[4];
	general[MU_REMOTE_R9] = args[5];
}

/* At the entry of a call: make the kernel skip it. */
static inline void
mu_arch_remote_cancel(uintptr_t *general)
{
	general[MU_REMOTE_ORIG_RAX] = ~(uintptr_t)0;
}

#elif defined(__aarch64__)

#define MU_REMOTE_CODE "\x01\x00\x00\xd4" /* svc #0 */
#define MU_REMOTE_CODE_SIZE 4
#define MU_REMOTE_CODE_STEP 4

#define MU_REMOTE_ARCH AUDIT_ARCH_AARCH64

#define MU_REMOTE_NOTE_CALL 0x404 /* NT_ARM_SYSTEM_CALL; -1: in none */

/*
 * The kernel decides about a restart before the stop (do_signal in
 * arch/arm64/kernel/signal.c): pc is back at the instruction, and the call's
 * result is in a variable on the kernel's stack, which is lost when the thread
 * leaves the stop: a pause() would not return after a handler.
 */
#define MU_REMOTE_REWINDS true

#define MU_REMOTE_PC 32

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

static inline uintptr_t
mu_arch_remote_pc(const uintptr_t *general)
{
	return general[MU_REMOTE_PC];
}

static inline void
mu_arch_remote_prepare(
    uintptr_t *general, uintptr_t code, long nr, const uintptr_t args[6])
{
	size_t i;

	general[MU_REMOTE_PC] = code;
	general[8] = (uintptr_t)nr;
	for (i = 0; i < 6; i++)
		general[i] = args[i];
}

/* MU_REMOTE_NOTE_CALL does it. */
static inline void
mu_arch_remote_cancel(uintptr_t *general)
{
	(void)general;
}

#endif

#endif
