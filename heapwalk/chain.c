/*
 * A chain of blocks: see heapwalk/chain.h.
 *
 * No two misses of a chain overlap, so all that counts is what stands between
 * one block and the address of the next. Nothing waits in a ring here: the
 * next block is asked for as soon as a word is seen that may lead to it, the
 * place of its mark is looked at meanwhile, and the first line of a block is
 * searched before the others. A list of 10^6 blocks in the order of their
 * addresses takes 47 ns a block so, and 95 by way of the rings (2 cores Xeon,
 * kernel 6.18).
 *
 * Runs in: sweeper (any). Uses no malloc, no errno, no libc lock.
 */
#include "heapwalk/chain.h"

#include <string.h>

#include "heapwalk/spans.h"

#define WORD sizeof(uintptr_t)
#define LINE_WORDS (MU_LINE / WORD - 1) /* behind a header */
/* Behind a header wherever it lies in its line. */
#define ASKED_EARLY ((MU_SCAN_EARLY_LINES - 1) * MU_LINE)

#define TRY_ALONE 256 /* blocks between two tries */

struct chain {
	struct mu_scan *scan;
	const struct mu_span *span; /* of the last word */
	uintptr_t next;             /* a taken block; 0: none yet */
};

static inline void
add_next(struct chain *chain, uintptr_t begin)
{
	if (chain->next == 0)
		chain->next = begin;
	else
		mu_scan_push(chain->scan, begin);
}

static void
look_up(struct chain *chain, uintptr_t value, uintptr_t address)
{
	mu_scan_word(chain->scan, (struct mu_scan_word) { value, address });
}

/* VALUE, which was read at ADDRESS. */
static inline void
look_at(struct chain *chain, uintptr_t value, uintptr_t address)
{
	const struct mu_span *span = chain->span;
	size_t offset, word;
	unsigned number;
	uint64_t *marks, before;

	if (!mu_range_has(span->range, value) &&
	    (span = mu_scan_span(chain->scan, value)) == NULL) {
		look_up(chain, value, address);
		return;
	}
	chain->span = span;
	offset = value - span->range.begin;
	mu_scan_ask_early(span->view + offset);
	word = offset / MU_GRAIN / MU_WORD_BITS;
	number = offset / MU_GRAIN % MU_WORD_BITS;
	marks = mu_span_marks(span, word);
	if ((*mu_span_starts(span, word) >> number & 1) == 0)
		look_up(chain, value, address);
	else if ((__atomic_load_n(marks, __ATOMIC_RELAXED) >> number & 1) ==
		0 &&
	    mu_scan_take(chain->scan, marks, number, &before))
		add_next(chain, value & ~(uintptr_t)(MU_GRAIN - 1));
}

static inline void
look_through(
    struct chain *chain, const char *view, uintptr_t address, size_t left)
{
	const struct mu_blocks *blocks = chain->scan->blocks;
	uintptr_t lowest = blocks->envelope.begin, value;
	size_t width = mu_range_size(blocks->envelope), count, at;
	size_t limit = LINE_WORDS;
	uint64_t found;

	for (; left > 0; left -= count, limit = MU_WORDS_MAX) {
		count = left < limit ? left : limit;
		found = chain->scan->filter(view, count, lowest, width);
		for (; found != 0; found &= found - 1) {
			at = (size_t)__builtin_ctzll(found) * WORD;
			memcpy(&value, view + at, WORD);
			look_at(chain, value, address + at);
		}
		view += count * WORD;
		address += count * WORD;
	}
}

/* The block at BEGIN; false: it takes more than can be done here. */
static inline bool
step(struct chain *chain, uintptr_t begin)
{
	struct mu_scan *scan = chain->scan;
	const char *view;
	size_t size;

	if (!mu_range_has(chain->span->range, begin))
		chain->span = mu_scan_span(scan, begin);
	if (chain->span == NULL)
		return false;
	view = chain->span->view + (begin - chain->span->range.begin);
	size = mu_span_usable(view, chain->span->range.end - begin);
	if (size > MU_SCAN_LONG)
		return false;
	if (size > ASKED_EARLY)
		mu_scan_ask(view, size);
	look_through(chain, view, begin, size / WORD);
	if (mu_deadline_passed(&scan->deadline, size / WORD + 8))
		mu_share_stop(scan->share);
	return true;
}

/* From BEGIN on; what is left to do, 0: nothing. */
static uintptr_t
walk(struct chain *chain, uintptr_t begin)
{
	struct mu_scan *scan = chain->scan;
	size_t steps;

	for (steps = 1; begin != 0 && scan->num_words == 0 &&
	     scan->depth == scan->base && !mu_share_is_over(scan->share);
	     steps++) {
		if (steps % TRY_ALONE == 0 && !scan->alone)
			scan->alone = mu_share_is_alone(scan->share);
		chain->next = 0;
		if (!step(chain, begin)) {
			mu_scan_block(scan, begin);
			return 0;
		}
		begin = chain->next;
	}
	return begin;
}

void
mu_chain_scan(struct mu_scan *scan)
{
	struct chain chain = { .scan = scan };
	bool alone = scan->alone;
	uintptr_t begin;

	begin = scan->stack[scan->base];
	scan->depth = scan->base = 0;
	chain.span = mu_scan_span(scan, begin);
	if (chain.span == NULL) {
		mu_scan_block(scan, begin);
		return;
	}
	begin = walk(&chain, begin);
	scan->alone = alone;
	if (begin != 0)
		mu_scan_push(scan, begin);
}
