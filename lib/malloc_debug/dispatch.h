/*
 * Every call that does not take a short way: by the state of the recorder and
 * of this thread to the allocator underneath, to hooks, to the careful way.
 *
 * Runs in: the original, any thread, from the first allocation on. errno is as
 * it was wherever the call succeeds.
 */
#ifndef DISPATCH_H
#define DISPATCH_H

#include "lib/malloc_debug/call.h"

void *dispatch_alloc(const struct call *call, const struct request *request);
void *dispatch_realloc(const struct call *call, void *block, size_t size);
void dispatch_free(const struct call *call, void *block);
size_t dispatch_usable_size(const struct call *call, void *block);

#endif
