/*
 * What the program did wrong, on stderr in the words of Android's malloc
 * debug; then abort(), if abort_on_error was given.
 *
 * Runs in: the original, in the thread that was caught.
 */
#ifndef ERRORS_H
#define ERRORS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/malloc_debug/call.h"

/* The program's block as the shadow has it. */
struct error_block {
	const void *begin;
	size_t size;
	uint32_t stack; /* of its allocation */
	uint32_t freed; /* of its release, or 0 */
};

/* True: they are as they were. Else it has been reported. */
bool error_check_guards(
    const struct call *call, const struct error_block *block);

/* The first COUNT bytes of a block held back. */
bool error_check_freed(const struct error_block *block, size_t count);

/* The same without a word. */
bool error_guards_good(const struct error_block *block);

void error_used_after_free(
    const struct call *call, const struct error_block *block);
void error_tag(
    const struct call *call, const struct error_block *block, uint32_t tag);
void error_tag_after_free(const struct error_block *block, uint32_t tag);
void error_unknown(const struct call *call, const void *pointer);

/*
 * CALL is not the counterpart of what allocated BLOCK: that is of another KIND,
 * or had another ALIGNMENT, or CALL has another size.
 */
void error_mismatch(const struct call *call, const struct error_block *block,
    enum mu_block_kind kind, size_t alignment);

#endif
