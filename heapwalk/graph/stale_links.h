/*
 * Free-list links that outlived their list.
 *
 * A chunk that was freed and allocated again still holds fd and bk where the
 * program has not written. Each is the address of a chunk header, which is also
 * the last 8 usable bytes of the block before it, so an old link looks like a
 * reference to an unrelated block. But a program may point there itself: at a
 * list node or a second base class at the end of an object, or at a block
 * behind its own 16-byte header. Without evidence such a word counts: a false
 * leak is worse than a missed one. Even with evidence it counts in a program
 * that points to last words elsewhere: blocks->last_words, which marking
 * determines (heapwalk/mark/links.c).
 */
#ifndef HEAPWALK_GRAPH_STALE_LINKS_H
#define HEAPWALK_GRAPH_STALE_LINKS_H

#include "heapwalk/heaps/blocks.h"

/*
 * Of all words in blocks, which point where a link may: at TO's last word,
 * where a chunk begins. None does if TO ends with its span.
 */
static inline bool
mu_link_possible(uintptr_t value, const struct mu_block *to)
{
	return value % MU_GRAIN == 0 && to->listed == NULL &&
	    value == to->range.end - sizeof(value);
}

/*
 * Is VALUE, a word that lies at ADDRESS inside a block and points into TO, a
 * left-over link? Never for words of roots: do not ask.
 */
bool mu_link_stale(const struct mu_blocks *blocks, uintptr_t address,
    uintptr_t value, const struct mu_block *to);

#endif
