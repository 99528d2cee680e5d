/*
 * Calls with everything that options can add to a shadow word: guards, fills,
 * checks, blocks held back.
 *
 * Runs in: the original, any thread that is not inside the recorder.
 */
#ifndef LIB_MALLOC_DEBUG_ENTRY_CAREFUL_H
#define LIB_MALLOC_DEBUG_ENTRY_CAREFUL_H

#include "lib/malloc_debug/entry/call.h"

/*
 * Like malloc(3) and its relatives, on behalf of CALL; NULL with errno set if
 * memory is exhausted.
 */
void *careful_alloc(const struct call *call, const struct request *request);
void *careful_realloc(const struct call *call, void *block, size_t size);
void careful_free(const struct call *call, void *block);
size_t careful_usable_size(const struct call *call, void *block);

/* Allocate without guards, and with a word only if pointers are verified. */
void *careful_bare(const struct request *request);

#endif
