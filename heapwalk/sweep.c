/*
 * Sweeping: blocks that are marked and not taken are scanned in the order of
 * their addresses.
 *
 * A graph whose next block lies anywhere costs a miss of the TLB and several
 * of the caches a block. So as soon as more blocks are pending than a stack
 * holds, none goes on a stack any more, and the bitmaps say what is pending.
 * Neighbours share pages and page walks, and what a sweep marks ahead of
 * itself it scans, too: a random graph takes three or four of them.
 *
 * Three loops in place of one, each over what the one before has asked memory
 * for: begins of blocks, words in them, places of those words in the bitmaps.
 *
 * Runs in: sweeper (any). Uses no malloc, no errno, no libc lock.
 */
#include <string.h>

#include "heapwalk/scan.h"
#include "heapwalk/spans.h"

#define WORD sizeof(uintptr_t)

#define AHEAD 8 /* blocks whose bytes are on the way */

/* Those of word NUMBER that are marked and not taken: taken now. */
static uint64_t
take_marked(struct mu_scan *scan, const struct mu_span *span, size_t number)
{
	uint64_t *marks = mu_span_marks(span, number), last = 1ull << 63;
	uint64_t before = __atomic_load_n(marks, __ATOMIC_RELAXED);
	uint64_t fresh =
	    before & ~(before >> 1) & *mu_span_starts(span, number);

	if (fresh == 0)
		return 0;
	fresh &= ~(mu_scan_set_bits(scan, marks, fresh << 1) >> 1);
	if ((fresh & last) != 0 &&
	    (mu_scan_set_bits(scan, marks + 2, 1) & 1) != 0)
		fresh &= ~last;
	return fresh;
}

bool
mu_scan_swept(struct mu_scan *scan, uintptr_t *begin)
{
	const struct mu_span *span = scan->sweep.span;
	size_t number;

	while (scan->sweep.taken == 0) {
		if (scan->sweep.next == scan->sweep.end)
			return false;
		number = scan->sweep.next++;
		scan->sweep.taken = take_marked(scan, span, number);
	}
	number = (scan->sweep.next - 1) * MU_WORD_BITS +
	    (size_t)__builtin_ctzll(scan->sweep.taken);
	scan->sweep.taken &= scan->sweep.taken - 1;
	scan->sweep.count++;
	*begin = span->range.begin + number * MU_GRAIN;
	return true;
}

/* Mark what words point at that wait, by now in the cache. */
static void
settle_waiting(struct mu_scan *scan)
{
	struct mu_sweep *sweep = &scan->sweep;
	uint64_t *marks, bit;
	size_t i;

	for (i = 0; i < sweep->num_words; i++) {
		marks = sweep->places[i] + 1;
		bit = sweep->bits[i];
		if ((*sweep->places[i] & bit) == 0) {
			mu_scan_word(scan,
			    (struct mu_scan_word) {
				sweep->values[i], sweep->addresses[i] });
		} else if ((__atomic_load_n(marks, __ATOMIC_RELAXED) & bit) ==
		    0) {
			mu_scan_set_bits(scan, marks, bit);
			scan->left = true;
		}
	}
	sweep->num_words = 0;
}

/* VALUE, read at ADDRESS, waits until its place is in the cache. */
static inline void
wait_word(struct mu_scan *scan, uintptr_t value, uintptr_t address)
{
	struct mu_sweep *sweep = &scan->sweep;
	const struct mu_span *span = sweep->span;
	size_t grain, i;

	if (!mu_range_has(span->range, value) &&
	    (span = mu_scan_span(scan, value)) == NULL) {
		mu_scan_word(scan, (struct mu_scan_word) { value, address });
		return;
	}
	grain = (value - span->range.begin) / MU_GRAIN;
	i = sweep->num_words++;
	sweep->places[i] = mu_span_starts(span, grain / MU_WORD_BITS);
	sweep->bits[i] = 1ull << grain % MU_WORD_BITS;
	sweep->values[i] = value;
	sweep->addresses[i] = address;
	__builtin_prefetch(sweep->places[i], 1);
}

static void
gather_words(
    struct mu_scan *scan, const char *view, uintptr_t address, size_t left)
{
	uintptr_t lowest = scan->blocks->envelope.begin, value;
	size_t width = mu_range_size(scan->blocks->envelope), count, at;
	uint64_t found;

	for (; left > 0; left -= count) {
		count = left < MU_WORDS_MAX ? left : MU_WORDS_MAX;
		if (scan->sweep.num_words > MU_SWEEP_WORDS - MU_WORDS_MAX)
			settle_waiting(scan);
		found = scan->filter(view, count, lowest, width);
		for (; found != 0; found &= found - 1) {
			at = (size_t)__builtin_ctzll(found) * WORD;
			memcpy(&value, view + at, WORD);
			wait_word(scan, value, address + at);
		}
		view += count * WORD;
		address += count * WORD;
	}
}

/* Ask for the headers of the next blocks that are to be scanned. */
static bool
gather_blocks(struct mu_scan *scan)
{
	struct mu_sweep *sweep = &scan->sweep;
	const char *view = sweep->span->view;
	uint64_t taken;
	size_t offset, count = 0;

	while (sweep->next < sweep->end &&
	    count <= MU_SWEEP_BLOCKS - MU_WORD_BITS) {
		offset = sweep->next * MU_WORD_BITS * MU_GRAIN;
		taken = take_marked(scan, sweep->span, sweep->next++);
		for (; taken != 0; taken &= taken - 1) {
			sweep->begins[count] =
			    offset + (size_t)__builtin_ctzll(taken) * MU_GRAIN;
			__builtin_prefetch(
			    view + sweep->begins[count++] - WORD);
		}
	}
	sweep->num_begins = count;
	sweep->count += count;
	return count > 0;
}

static inline size_t
usable(const struct mu_span *span, size_t offset)
{
	return mu_span_usable(
	    span->view + offset, mu_range_size(span->range) - offset);
}

static void
scan_gathered(struct mu_scan *scan)
{
	struct mu_sweep *sweep = &scan->sweep;
	const struct mu_span *span = sweep->span;
	const char *view;
	uintptr_t begin;
	size_t i, ahead, size, words = 0;

	for (i = 0; i < sweep->num_begins; i++) {
		if (i + AHEAD < sweep->num_begins) {
			ahead = sweep->begins[i + AHEAD];
			mu_scan_ask(span->view + ahead, usable(span, ahead));
		}
		view = span->view + sweep->begins[i];
		begin = span->range.begin + sweep->begins[i];
		size = usable(span, sweep->begins[i]);
		words += size / WORD + 8;
		if (size > MU_SCAN_LONG)
			mu_scan_block(scan, begin);
		else
			gather_words(scan, view, begin, size / WORD);
	}
	if (mu_deadline_passed(&scan->deadline, words))
		mu_share_stop(scan->share);
}

void
mu_scan_sweep(
    struct mu_scan *scan, struct mu_span *span, size_t next, size_t end)
{
	const struct mu_word_rule *rule = &scan->blocks->words;

	scan->sweep.span = span;
	scan->sweep.next = next;
	scan->sweep.end = end;
	if (scan->sweeping && rule->tags == 0 && !rule->unaligned) {
		while (!mu_share_is_over(scan->share) && gather_blocks(scan))
			scan_gathered(scan);
		settle_waiting(scan);
	}
	mu_scan_drain(scan);
}
