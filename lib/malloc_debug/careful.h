/*
 * Calls with all that the options may want besides a word: guards, fills,
 * checks, blocks held back.
 *
 * Runs in: the original, any thread that is not inside the recorder.
 */
#ifndef CAREFUL_H
#define CAREFUL_H

#include "lib/malloc_debug/call.h"

void *careful_alloc(const struct call *call, const struct request *request);
void *careful_realloc(const struct call *call, void *block, size_t size);
void careful_free(const struct call *call, void *block);
size_t careful_usable_size(const struct call *call, void *block);

/* Parts of them. BLOCK gets its word; false: it got none. */
bool careful_record(const struct call *call, const void *block, size_t size);

/* A pointer without a word: true = it has been reported. */
bool careful_unknown(const struct call *call, const void *block);
void careful_freed_before(
    const struct call *call, const void *block, uint32_t word);

/* Before BLOCK is released. False: its head is damaged, leave it alone. */
bool careful_check(const struct call *call, const void *block, uint32_t word);

/*
 * The word of BLOCK, which from now on is marked freed: two threads that free
 * it at once are told apart. As it is if it was marked before, 0 if there is
 * none.
 */
uint32_t careful_claim(const void *block);

/* BLOCK had that word. */
void careful_free_claimed(const struct call *call, void *block, uint32_t word);

/* As the allocator gives it, with a word only if pointers are verified. */
void *careful_bare(const struct request *request);

#endif
