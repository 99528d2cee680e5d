/*
 * The general registers of a thread, as ptrace and core files give them
 * (NT_PRSTATUS): MU_PRSTATUS_WORDS words, whose indices are MU_REG_...
 *
 * MU_PRSTATUS_ARGUMENT, _PC, _SP and _TP are those of the first argument of a
 * system call, the program counter, the stack pointer and the thread pointer;
 * MU_PRSTATUS_TP is -1 where the thread pointer is in another register set.
 *
 * Runs in: any.
 */
#ifndef MU_ARCH_REGISTERS_H
#define MU_ARCH_REGISTERS_H

#include <stdbool.h>
#include <stdint.h>

#include "mu/arch/chosen.h"

/* True if the thread is known not to be in a system call. */
static inline bool mu_arch_in_user_code(const uintptr_t *general);

/*
 * The number of the system call that the thread was stopped in; -1 if it is in
 * none or the number is not known.
 */
static inline long mu_arch_call(const uintptr_t *general);

/* The reverse; ARGUMENT is the call's first. */
static inline void mu_arch_set_call(
    uintptr_t *general, long call, uintptr_t argument);

/*
 * True if a function must leave word WORD as it was: System V psABI x86-64
 * 3.2.1, AAPCS64 6.1.1. MU_KEPT_ARE_GENERAL: no vector registers are kept.
 */
static inline bool mu_arch_kept_by_calls(unsigned word);

#include MU_ARCH(registers.h)

#endif
