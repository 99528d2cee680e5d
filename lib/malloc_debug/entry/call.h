/*
 * The call that the program made, as entry points pass it on.
 */
#ifndef LIB_MALLOC_DEBUG_ENTRY_CALL_H
#define LIB_MALLOC_DEBUG_ENTRY_CALL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/malloc_debug/dumps/journal.h"
#include "lib/malloc_debug/unwind/stack_capture.h"
#include "mu/recorded.h"

struct call {
	const char *function; /* for messages */
	const void *frame;    /* the entry's own */
	struct stack_start start;
	enum mu_block_kind kind; /* what it allocates, or may free */
	enum journal_op op;
	bool sized;       /* operator delete has a size argument */
	size_t size;      /* that size */
	size_t alignment; /* its argument; 0: none */
};

/* Use in the entry point itself. Further members may follow. */
#define CALL(name, block_kind, journal_op, ...)     \
	(&(const struct call) { .function = (name), \
	    .frame = __builtin_frame_address(0),    \
	    .start = STACK_START(),                 \
	    .kind = (block_kind),                   \
	    .op = (journal_op),                     \
	    __VA_ARGS__ })

/* The requested block. */
struct request {
	size_t members;   /* calloc(): else 1 */
	size_t size;      /* of one */
	size_t alignment; /* a power of two; 0: malloc's own */
	bool zero;
};

#endif
