/*
 * What exit(), its callers, and functions without a red zone look like as code.
 *
 * Runs in: any.
 */
#ifndef MU_ARCH_EXIT_H
#define MU_ARCH_EXIT_H

#include <stdbool.h>
#include <stdint.h>

#include "mu/arch/chosen.h"
#include "mu/range.h"

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

/*
 * True if the function CODE of SIZE bytes, at ADDRESS of a subject, keeps
 * nothing in the red zone: it has no operand below its stack or frame pointer,
 * or it calls a function in TEXT, the code around it. A red zone is a leaf
 * function's only (x86-64 psABI 3.2.2).
 */
static inline bool mu_arch_red_zone_unused(const unsigned char *code,
    size_t size, uintptr_t address, struct mu_range text);

#include MU_ARCH(exit.h)

#endif
