/*
 * Report errors of the program on stderr with the text of Android's malloc
 * debug, then abort() if abort_on_error is set.
 *
 * Runs in: the original, in the thread that made the error.
 */
#ifndef LIB_MALLOC_DEBUG_CHECKS_ERRORS_H
#define LIB_MALLOC_DEBUG_CHECKS_ERRORS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/malloc_debug/entry/call.h"

/* The program's block as recorded in the shadow. */
struct error_block {
	const void *begin;
	size_t size;
	uint32_t stack; /* stack of its allocation */
	uint32_t freed; /* stack of its release, or 0 */
};

/* Returns true if the guards are intact. Otherwise reports them. */
bool error_check_guards(
    const struct call *call, const struct error_block *block);

/* Check the first COUNT bytes of a block held back. */
bool error_check_freed(const struct error_block *block, size_t count);

/* error_check_guards() without a report. */
bool error_guards_good(const struct error_block *block);

/*
 * Report an error of the program: CALL got a block that was freed, or a block
 * has TAG in its header instead of one of ours (CALL is NULL at the exit).
 */
void error_used_after_free(
    const struct call *call, const struct error_block *block);
void error_tag(
    const struct call *call, const struct error_block *block, uint32_t tag);
void error_tag_after_free(const struct error_block *block, uint32_t tag);
void error_unknown(const struct call *call, const void *pointer);

/*
 * CALL does not match the allocation of BLOCK: it was allocated as another
 * KIND, or with another ALIGNMENT, or CALL passes another size.
 */
void error_mismatch(const struct call *call, const struct error_block *block,
    enum mu_block_kind kind, size_t alignment);

#endif
