/*
 * Calls that do not take a short path: by the state of the recorder and of this
 * thread they go to the allocator underneath, to hooks, or to the careful path.
 *
 * Runs in: the original, any thread, from the first allocation on. errno is
 * unchanged if the call succeeds.
 */
#ifndef LIB_MALLOC_DEBUG_ENTRY_DISPATCH_H
#define LIB_MALLOC_DEBUG_ENTRY_DISPATCH_H

#include "lib/malloc_debug/entry/call.h"

/*
 * Like malloc(3) and its relatives, on behalf of CALL; NULL with errno set if
 * memory is exhausted.
 */
void *dispatch_alloc(const struct call *call, const struct request *request);
void *dispatch_realloc(const struct call *call, void *block, size_t size);
void dispatch_free(const struct call *call, void *block);
size_t dispatch_usable_size(const struct call *call, void *block);

#endif
