/*
 * Words become marks: see heapwalk/scan.h.
 *
 * A word that may point into a block waits in a ring while its place in the
 * bitmaps comes from memory; then the block is marked and pushed.
 *
 * Runs in: sweeper (any). Uses no malloc, no errno, no libc lock.
 */
#include "heapwalk/scan.h"

#include <string.h>

#include "heapwalk/links.h"
#include "heapwalk/references.h"
#include "heapwalk/spans.h"

#define WORD sizeof(uintptr_t)

#define FEW_WORDS 4    /* or blocks, so few wait in a chain */
#define EMPTY_SHIFT 20 /* libraries lie beside heaps */

/* Is ADDRESS known to be in no block? NULL of mu_scan_span() says less. */
static bool
in_empty(struct mu_scan *scan, uintptr_t address)
{
	uintptr_t number = address >> EMPTY_SHIFT;
	uintptr_t *known = &scan->empty[number % MU_SCAN_REGIONS];
	struct mu_range region = { number << EMPTY_SHIFT,
		(number + 1) << EMPTY_SHIFT };

	if (*known == number)
		return true;
	if (!mu_blocks_empty(scan->blocks, region))
		return false;
	*known = number;
	return true;
}

static bool
put_off(struct mu_scan *scan, uintptr_t value, uintptr_t address)
{
	struct mu_block block;

	if (scan->blocks->last_words || address == 0 || value % MU_GRAIN != 0 ||
	    !mu_blocks_find(scan->blocks, value, &block) ||
	    !mu_link_possible(value, &block) || mu_block_marked(&block))
		return false;
	if (scan->num_links < scan->max_links)
		scan->links[scan->num_links++] =
		    (struct mu_scan_word) { value, address };
	else
		scan->links_lost = true;
	return true;
}

/* Room on the stack for one more; if there is none, the sweeps begin. */
static inline bool
has_room(struct mu_scan *scan)
{
	if (scan->sweeping)
		return false;
	if (scan->depth < scan->max_depth)
		return true;
	if (scan->base > 0) {
		scan->depth -= scan->base;
		memmove(scan->stack, scan->stack + scan->base,
		    scan->depth * sizeof(*scan->stack));
		scan->base = 0;
		return true;
	}
	scan->sweeping = true;
	mu_share_sweep(scan->share);
	return false;
}

/* Whoever sets the second bit is the one who scans the block. */
bool
mu_scan_reach_first(
    struct mu_scan *scan, uint64_t *marks, unsigned number, uintptr_t begin)
{
	uint64_t bit = 1ull << number, before;

	if ((__atomic_load_n(marks, __ATOMIC_RELAXED) & bit) != 0)
		return false;
	if (!has_room(scan)) {
		scan->left = true;
		return (mu_scan_set_bits(scan, marks, bit) & bit) == 0;
	}
	if (mu_scan_take(scan, marks, number, &before))
		scan->stack[scan->depth++] = begin;
	return (before & bit) == 0;
}

bool
mu_scan_take_listed(struct mu_listed *listed)
{
	return !__atomic_exchange_n(&listed->taken, true, __ATOMIC_RELAXED);
}

bool
mu_scan_reach(struct mu_scan *scan, const struct mu_block *block)
{
	uintptr_t begin = block->range.begin;
	bool fresh;

	if (block->mark != NULL)
		return mu_scan_reach_first(scan, block->mark,
		    (unsigned)__builtin_ctzll(block->bit), begin);
	if (mu_block_marked(block))
		return false;
	fresh = !__atomic_exchange_n(
	    &block->listed->marked, true, __ATOMIC_RELAXED);
	if (!has_room(scan))
		scan->left = true;
	else if (mu_scan_take_listed(block->listed))
		scan->stack[scan->depth++] = begin;
	return fresh;
}

void
mu_scan_push(struct mu_scan *scan, uintptr_t begin)
{
	if (has_room(scan))
		scan->stack[scan->depth++] = begin;
	else
		mu_scan_leave(scan, begin);
}

void
mu_scan_leave(struct mu_scan *scan, uintptr_t begin)
{
	struct mu_block block;

	scan->left = true;
	if (!mu_blocks_find(scan->blocks, begin, &block))
		return;
	if (block.mark == NULL)
		__atomic_store_n(&block.listed->taken, false, __ATOMIC_RELAXED);
	else if (block.bit << 1 != 0)
		__atomic_fetch_and(
		    block.mark, ~(block.bit << 1), __ATOMIC_RELAXED);
	else
		__atomic_fetch_and(block.mark + 2, ~1ull, __ATOMIC_RELAXED);
}

static inline void
wait_word(struct mu_scan *scan, uintptr_t value, uintptr_t address, bool again)
{
	unsigned place = (scan->first_word + scan->num_words++) % MU_SCAN_WORDS;

	scan->values[place] = value;
	scan->addresses[place] = address;
	scan->again[place] = again;
}

/*
 * VALUE does not point at a block's first byte: is the nearest one before it
 * marked, or not known yet to reach so far? False: it must be found.
 */
static bool
settle_inside(struct mu_scan *scan, const struct mu_span *span, uintptr_t value,
    uintptr_t address, bool again)
{
	size_t grain = (value - span->range.begin) / MU_GRAIN;
	size_t index = grain / MU_WORD_BITS;
	uint64_t bits = *mu_span_starts(span, index) &
	    (~0ull >> (MU_WORD_BITS - 1 - grain % MU_WORD_BITS));
	uint64_t marks;
	unsigned top;

	if (bits == 0 || again)
		return false;
	top = MU_WORD_BITS - 1 - (unsigned)__builtin_clzll(bits);
	marks = __atomic_load_n(mu_span_marks(span, index), __ATOMIC_RELAXED);
	if ((marks >> top & 1) != 0)
		return true;
	__builtin_prefetch(
	    span->view + (index * MU_WORD_BITS + top) * MU_GRAIN - WORD);
	wait_word(scan, value, address, true);
	return true;
}

/* Mark what VALUE points into, by now in the cache. */
static inline void
settle(struct mu_scan *scan, uintptr_t value, uintptr_t address, bool again)
{
	struct mu_span *span = mu_scan_span(scan, value);
	struct mu_block block;
	size_t grain, index;
	unsigned number;

	if (span != NULL) {
		grain = (value - span->range.begin) / MU_GRAIN;
		index = grain / MU_WORD_BITS;
		number = grain % MU_WORD_BITS;
		/* The first grain of a block: no need to know its end. */
		if ((*mu_span_starts(span, index) >> number & 1) != 0) {
			mu_scan_reach_first(scan, mu_span_marks(span, index),
			    number, span->range.begin + grain * MU_GRAIN);
			return;
		}
		if (settle_inside(scan, span, value, address, again))
			return;
	}
	if (!put_off(scan, value, address) &&
	    mu_reference_find(scan->blocks, address, value, &block))
		mu_scan_reach(scan, &block);
}

/*
 * Value and address are written and read one by one: as a structure gcc reads
 * both at once, and a load that covers two stores waits until both are in the
 * cache, behind every miss before them (marking took 1.5 times as long).
 */
static inline void
settle_oldest(struct mu_scan *scan)
{
	unsigned oldest = scan->first_word;

	scan->first_word = (oldest + 1) % MU_SCAN_WORDS;
	scan->num_words--;
	settle(scan, scan->values[oldest], scan->addresses[oldest],
	    scan->again[oldest]);
}

/*
 * Is there nothing else to do meanwhile, as in a chain of blocks that
 * heapwalk/chain.c leaves alone, linked by their middles? Then each is
 * asked for as soon as a word is seen that may lead to it, and its first line
 * is looked at before the others: a shuffled list of 10^6 takes 350 ns a block
 * and not 450, where following the pointers alone takes 240 (2 cores Xeon,
 * kernel 6.18, while others worked).
 */
static inline bool
is_idle(const struct mu_scan *scan)
{
	return scan->num_words < FEW_WORDS && scan->depth == scan->base &&
	    scan->newest - scan->oldest < FEW_WORDS;
}

static inline void
take_word(struct mu_scan *scan, uintptr_t value, uintptr_t address)
{
	struct mu_span *span = mu_scan_span(scan, value);
	size_t offset;

	if (span != NULL) {
		offset = value - span->range.begin;
		__builtin_prefetch(
		    mu_span_starts(span, offset / MU_GRAIN / MU_WORD_BITS), 1);
		if (is_idle(scan))
			mu_scan_ask_early(span->view + offset);
	} else if (in_empty(scan, value)) {
		return;
	}
	/* One that must wait again makes no room. */
	while (scan->num_words == MU_SCAN_WORDS)
		settle_oldest(scan);
	wait_word(scan, value, address, false);
}

void
mu_scan_word(struct mu_scan *scan, struct mu_scan_word word)
{
	take_word(scan, word.value, word.address);
}

/* Inline, so that the usual step costs nothing. */
static inline __attribute__((always_inline)) void
scan_each(struct mu_scan *scan, const char *view, struct mu_range range,
    bool root, size_t step)
{
	uintptr_t lowest = scan->blocks->envelope.begin;
	size_t width = mu_range_size(scan->blocks->envelope);
	uintptr_t tags = scan->blocks->words.tags;
	uintptr_t address = range.begin, word, value;

	for (; range.end - address >= WORD; address += step, view += step) {
		memcpy(&word, view, WORD);
		value = word & ~tags;
		if (value - lowest < width)
			take_word(
			    scan, value, root || value != word ? 0 : address);
	}
}

static inline void
scan_filtered(
    struct mu_scan *scan, const char *view, struct mu_range range, bool root)
{
	uintptr_t lowest = scan->blocks->envelope.begin;
	size_t width = mu_range_size(scan->blocks->envelope);
	size_t left = mu_range_size(range) / WORD, count, limit, at;
	uintptr_t address = range.begin, value;
	uint64_t found;

	/* Of a chain's block the first line may lead on, the others wait. */
	limit = is_idle(scan) ? MU_LINE / WORD - 1 : MU_WORDS_MAX;
	for (; left > 0; left -= count, limit = MU_WORDS_MAX) {
		count = left < limit ? left : limit;
		found = scan->filter(view, count, lowest, width);
		for (; found != 0; found &= found - 1) {
			at = (size_t)__builtin_ctzll(found) * WORD;
			memcpy(&value, view + at, WORD);
			take_word(scan, value, root ? 0 : address + at);
		}
		view += count * WORD;
		address += count * WORD;
	}
}

/* Eight times by the filter is faster than each byte by itself. */
static void
scan_everywhere(
    struct mu_scan *scan, const char *view, struct mu_range range, bool root)
{
	size_t shift;

	if (scan->blocks->words.tags != 0) {
		scan_each(scan, view, range, root, 1);
		return;
	}
	for (shift = 0; shift < WORD && mu_range_size(range) >= WORD; shift++) {
		scan_filtered(scan, view + shift, range, root);
		range.begin++;
	}
}

/* Addresses of 32 bits. */
static void
scan_halves(struct mu_scan *scan, const char *view, struct mu_range range)
{
	struct mu_range envelope = scan->blocks->envelope;
	size_t left = mu_range_size(range);
	uint32_t half;

	for (; left >= sizeof(half); left--, view++) {
		memcpy(&half, view, sizeof(half));
		if (mu_range_has(envelope, half))
			take_word(scan, half, 0);
	}
}

/* RANGE begins where a word counts; its bytes are at VIEW. */
void
mu_scan_words(struct mu_scan *scan, const char *view, struct mu_range range,
    enum mu_words_of of)
{
	const struct mu_word_rule *rule = &scan->blocks->words;
	bool root = of == MU_WORDS_ROOT || of == MU_WORDS_CODE;
	size_t cost = mu_range_size(range);

	if (mu_words_are_code(of) && scan->blocks->envelope.begin <= UINT32_MAX)
		scan_halves(scan, view, range);
	if (rule->unaligned || mu_words_are_code(of)) {
		scan_everywhere(scan, view, range, root);
	} else {
		cost /= WORD;
		if (rule->tags == 0)
			scan_filtered(scan, view, range, root);
		else
			scan_each(scan, view, range, root, WORD);
	}
	if (mu_deadline_passed(&scan->deadline, cost + 8))
		mu_share_stop(scan->share);
}

void
mu_scan_settle(struct mu_scan *scan)
{
	settle_oldest(scan);
}
