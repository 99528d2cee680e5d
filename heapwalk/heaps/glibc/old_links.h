/*
 * Recognise free-list links that are still in memory after the list is gone.
 *
 * A chunk that was freed and allocated again still holds fd and bk where the
 * program has not written. Each is the address of a chunk header, which is also
 * the last 8 usable bytes of the block before it, so an old link looks like a
 * reference to an unrelated block. But a program may point there itself: at a
 * list node or a second base class at the end of an object, or at a block after
 * its own 16-byte header. Without evidence such a word counts as a reference: a
 * false leak is worse than a missed one. Even with evidence it counts in a
 * program that points to last words elsewhere: blocks->last_words, which
 * marking determines (heapwalk/mark/mark.c).
 */
#ifndef HEAPWALK_HEAPS_GLIBC_OLD_LINKS_H
#define HEAPWALK_HEAPS_GLIBC_OLD_LINKS_H

#include "heapwalk/heaps/heap.h"

/* Implements mu_heap_ops.link(). */
enum mu_heap_link mu_glibc_old_link(const struct mu_heap_member *member,
    const struct mu_blocks *blocks, uintptr_t address, uintptr_t value,
    const struct mu_block *to);

#endif
