/*
 * Frames of interpreted functions in the depot: see MU_FRAME_SCRIPT.
 */
#ifndef LIB_MALLOC_DEBUG_UNWIND_SCRIPT_LINES_H
#define LIB_MALLOC_DEBUG_UNWIND_SCRIPT_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mu/recorded.h"

/* Bytes that are kept of a text. */
#define SCRIPT_TEXT_MOST (MU_SCRIPT_TEXT_WORDS * sizeof(uint64_t))

/* As it is stored; the bytes behind its end are 0. */
union script_text {
	char bytes[SCRIPT_TEXT_MOST];
	uintptr_t words[SCRIPT_TEXT_MOST / sizeof(uintptr_t)];
};

struct script_line {
	const char *file, *function;
	unsigned line; /* 0: not known */
};

/* Store a text of LENGTH bytes. Returns its unit, or 0. */
uint32_t script_text_put(const union script_text *text, size_t length);

/* The frame of LINE in the function and file of these units; 0: no memory. */
uint64_t script_line_put(uint32_t file, uint32_t function, unsigned line);

/* Returns false if FRAME is none of these. Strings are the depot's. */
bool script_line_get(uint64_t frame, struct script_line *line);

/* How many of the frames of STACK are calls, in front of all others. */
size_t script_calls(const struct mu_stack *stack);

#endif
