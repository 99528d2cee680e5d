/*
 * The calls with everything that options can add to a shadow word: guards,
 * fills, checks, blocks held back.
 *
 * Runs in: the original, any thread that is not inside the recorder.
 */
#ifndef LIB_MALLOC_DEBUG_ENTRY_CAREFUL_H
#define LIB_MALLOC_DEBUG_ENTRY_CAREFUL_H

#include "lib/malloc_debug/entry/call.h"

void *careful_alloc(const struct call *call, const struct request *request);
void *careful_realloc(const struct call *call, void *block, size_t size);
void careful_free(const struct call *call, void *block);
size_t careful_usable_size(const struct call *call, void *block);

/* Parts of these calls. Give BLOCK its word; returns false if it got none. */
bool careful_record(const struct call *call, const void *block, size_t size);

/* For a pointer without a word: returns true if it was reported. */
bool careful_unknown(const struct call *call, const void *block);
void careful_freed_before(
    const struct call *call, const void *block, uint32_t word);

/*
 * Check BLOCK before it is released. False: its head is damaged; do not free
 * it.
 */
bool careful_check(const struct call *call, const void *block, uint32_t word);

/*
 * Mark BLOCK freed, so that only one of two threads that free it at once
 * succeeds. Returns the word as it was before; with the mark already set if the
 * block was freed before; 0 if there is no word.
 */
uint32_t careful_claim(const void *block);

/* Free BLOCK, which had WORD before careful_claim(). */
void careful_free_claimed(const struct call *call, void *block, uint32_t word);

/* Allocate without guards, and with a word only if pointers are verified. */
void *careful_bare(const struct request *request);

#endif
