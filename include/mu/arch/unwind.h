/*
 * What unwinding needs to know about the CPU.
 *
 * - DWARF numbers of the frame pointer, the stack pointer and the return
 *   address (x86-64 psABI table 3.36; DWARF for the Arm 64-bit Architecture,
 *   4.1); those below MU_DWARF_GENERAL are general registers;
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

#include "mu/arch/chosen.h"

/* ADDRESS without a pointer authentication code. */
static inline uintptr_t mu_unwind_strip(uintptr_t address);

#include MU_ARCH(unwind.h)

#endif
