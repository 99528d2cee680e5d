/*
 * DWARF expressions, as far as they say where something is on the stack.
 *
 * Runs in: the original, any thread.
 */
#ifndef FRAME_EXPRESSION_H
#define FRAME_EXPRESSION_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/malloc_debug/unwind_table.h"

enum frame_base {
	BASE_NONE, /* a number */
	BASE_SP,
	BASE_FP,
	BASE_LOADED, /* what lies at an address: of fp + offset */
};

/* A number that may be relative to a register. */
struct frame_value {
	enum frame_base base;
	int64_t offset;
};

/* At the instruction PC. False: it is more than can be told. */
bool frame_expression(
    struct frame_value *value, struct unwind_bytes expression, uintptr_t pc);

#endif
