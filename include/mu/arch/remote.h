/*
 * How to make a system call in a thread of another process: which registers of
 * NT_PRSTATUS take the number and the arguments.
 *
 * - MU_REMOTE_NOTE_CALL: the register set that holds the number of the call;
 *   0 if it is in NT_PRSTATUS.
 * - MU_REMOTE_REWINDS: true if the kernel decides about the restart of an
 *   interrupted call before ptrace can read the registers.
 *
 * Runs in: keeper.
 */
#ifndef MU_ARCH_REMOTE_H
#define MU_ARCH_REMOTE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mu/arch/chosen.h"
#include "mu/arch/registers.h"

/*
 * True if the thread was stopped on its way out of a system call: the
 * instruction is then right before pc.
 */
static inline bool mu_arch_remote_in_call(const uintptr_t *general);

/* True if the thread runs code of this program's ABI (64-bit). */
static inline bool mu_arch_remote_native(const uintptr_t *general);

/* Set GENERAL so that the instruction at CODE makes the system call NR. */
static inline void mu_arch_remote_prepare(
    uintptr_t *general, uintptr_t code, long nr, const uintptr_t args[6]);

/*
 * For a thread that is stopped at the entry of a call: make the kernel skip
 * that call.
 */
static inline void mu_arch_remote_cancel(uintptr_t *general);

/*
 * A thread was stopped in a call that the kernel restarts as another one,
 * restart_syscall(2), for which its seccomp filter may kill it. Change GENERAL
 * so that the call itself is restarted, if it then ends at the same time; else
 * it returns EINTR, as after a signal handler. False: nothing was changed.
 */
static inline bool mu_arch_avoid_restart(uintptr_t *general);

#include MU_ARCH(remote.h)

#endif
