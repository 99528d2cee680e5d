/*
 * What exit() and its callers look like as code.
 *
 * Runs in: any.
 */
#ifndef MU_ARCH_EXIT_H
#define MU_ARCH_EXIT_H

#include <stdbool.h>
#include <stdint.h>

#include "mu/arch/chosen.h"

/*
 * True if the code before ADDRESS is an indirect call whose result is passed to
 * TARGET, followed by the call of TARGET. MU_RESULT_CALL_BYTES before ADDRESS
 * are readable.
 */
static inline bool mu_arch_calls_with_result(
    uintptr_t address, uintptr_t target);

/*
 * The function that a direct call right before ADDRESS calls; 0 if there is no
 * such call. MU_RESULT_CALL_BYTES before ADDRESS are readable.
 */
static inline uintptr_t mu_arch_called(uintptr_t address);

/*
 * True if the function at CODE begins by saving all callee-saved registers
 * right below its return address. MU_SAVING_BYTES at CODE are readable.
 */
static inline bool mu_arch_saves_all(uintptr_t code);

#include MU_ARCH(exit.h)

#endif
