/*
 * Evaluate DWARF expressions that give a location on the stack.
 */
#ifndef LIB_MALLOC_DEBUG_UNWIND_FRAME_EXPRESSION_H
#define LIB_MALLOC_DEBUG_UNWIND_FRAME_EXPRESSION_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/malloc_debug/unwind/table.h"

enum frame_base {
	BASE_NONE, /* a number */
	BASE_SP,
	BASE_FP,
	BASE_LOADED, /* the word at address fp + offset */
};

/* A number that may be relative to a register. */
struct frame_value {
	enum frame_base base;
	int64_t offset;
};

/* Evaluate EXPRESSION at the instruction PC. False: not of a supported form. */
bool frame_expression(
    struct frame_value *value, struct unwind_bytes expression, uintptr_t pc);

#endif
