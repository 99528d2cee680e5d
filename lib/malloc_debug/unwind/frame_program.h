/*
 * Execute call frame instructions up to an address (DWARF 5, 6.4.2). Only the
 * frame pointer and the return address are tracked.
 */
#ifndef LIB_MALLOC_DEBUG_UNWIND_FRAME_PROGRAM_H
#define LIB_MALLOC_DEBUG_UNWIND_FRAME_PROGRAM_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/malloc_debug/unwind/table.h"

enum frame_saved_how {
	SAVED_SAME,
	SAVED_UNDEFINED,
	SAVED_AT_CFA,        /* at CFA + offset */
	SAVED_AT_EXPRESSION, /* at that address */
	SAVED_ELSEWHERE,     /* in another register, computed */
};

struct frame_saved {
	enum frame_saved_how how;
	int64_t offset;
	struct unwind_bytes expression;
};

enum { SAVED_FP, SAVED_RA, NUM_SAVED };

/* The state of a frame at an address. */
struct frame_state {
	bool by_expression;
	struct unwind_bytes cfa_expression;
	uint64_t cfa_register;
	int64_t cfa_offset;
	struct frame_saved saved[NUM_SAVED];
};

/* Returns false on an unknown instruction. */
bool frame_program_run(
    struct frame_state *state, const struct unwind_entry *entry, uintptr_t pc);

#endif
