/*
 * Mark every block that can be reached from the roots: scan them, then scan
 * again what found no room on the stack.
 *
 * Runs in: sweeper (any). Uses no malloc, no errno, no libc lock.
 */
#include "heapwalk/mark.h"

#include <string.h>

#include "heapwalk/scan.h"
#include "heapwalk/spans.h"

#define HEADER 16 /* struct malloc_chunk up to the user's bytes */

/* Entries of the stack: half the blocks, within these. */
#define MIN_DEPTH ((size_t)1 << 16)
#define MAX_DEPTH ((size_t)1 << 22)

/*
 * A thread that stands inside malloc or free has its chunk by the header only
 * (mem2chunk() in glibc's malloc.c): one that waits in _int_free() for a busy
 * arena has no other pointer to a block which is still in use. Not the thread
 * that asked for the pass: it is in none, and headers on its stack are left
 * over from malloc's dead frames.
 */
static void
mark_chunk(struct mu_scan *scan, uintptr_t header)
{
	struct mu_block block;
	uintptr_t begin = header + HEADER;

	/* A header's first word may be used by the block before it. */
	if (mu_blocks_find(scan->blocks, header, &block) &&
	    block.range.end - header > sizeof(header))
		return;
	if (mu_range_has(scan->blocks->envelope, begin) &&
	    mu_blocks_find(scan->blocks, begin, &block) &&
	    block.range.begin == begin)
		mu_scan_word(scan, (struct mu_scan_word) { begin, 0 });
}

static void
mark_chunks_of_stack(struct mu_scan *scan, const struct mu_root *root)
{
	uintptr_t address, word;

	address = root->range.begin + (-root->range.begin & (sizeof(word) - 1));
	for (; address < root->range.end &&
	     root->range.end - address >= sizeof(word);
	     address += sizeof(word)) {
		memcpy(&word, root->view + (address - root->range.begin),
		    sizeof(word));
		mark_chunk(scan, word);
	}
}

static void
mark_roots(struct mu_scan *scan, const struct mu_roots *roots)
{
	struct mu_listed *listed;
	size_t i;

	for (i = 0; i < scan->blocks->num_listed; i++) {
		listed = &scan->blocks->listed[i];
		if (listed->keep && !listed->marked) {
			listed->marked = true;
			mu_scan_root(scan, listed->view, listed->range);
		}
	}
	for (i = 0; i < roots->num_ranges; i++) {
		if (roots->ranges[i].kind == MU_ROOT_STACK)
			mark_chunks_of_stack(scan, &roots->ranges[i]);
		mu_scan_root(
		    scan, roots->ranges[i].view, roots->ranges[i].range);
	}
	for (i = 0; i < roots->num_values; i++) {
		mark_chunk(scan, roots->values[i]);
		if (mu_range_has(scan->blocks->envelope, roots->values[i]))
			mu_scan_word(scan,
			    (struct mu_scan_word) { roots->values[i], 0 });
	}
	mu_scan_finish(scan);
}

static void
rescan_span(
    struct mu_scan *scan, const struct mu_span *span, struct mu_range window)
{
	uintptr_t bytes = (uintptr_t)MU_GRAIN * MU_WORD_BITS, begin;
	uint64_t bits;
	size_t i = 0;

	if (window.begin > span->range.begin)
		i = (window.begin - span->range.begin) / bytes;
	for (; i < span->num_words && !scan->deadline.passed; i++) {
		begin = span->range.begin + i * bytes;
		if (begin >= window.end)
			return;
		for (bits = span->mark[i]; bits != 0; bits &= bits - 1)
			mu_scan_block(scan,
			    begin + (size_t)__builtin_ctzll(bits) * MU_GRAIN);
		mu_scan_finish(scan);
	}
}

/*
 * Each round that drops something again has marked more blocks than the stack
 * holds, so there are few, and each is one pass over the window.
 */
static void
rescan_dropped(struct mu_scan *scan)
{
	struct mu_range window;
	size_t i;

	while (scan->dropped.end != 0 && !scan->deadline.passed) {
		window = scan->dropped;
		scan->dropped = (struct mu_range) { 0, 0 };
		for (i = 0; i < scan->blocks->num_spans; i++)
			rescan_span(scan, &scan->blocks->spans[i], window);
		for (i = 0; i < scan->blocks->num_listed; i++) {
			if (!scan->blocks->listed[i].marked ||
			    !mu_range_has(
				window, scan->blocks->listed[i].range.begin))
				continue;
			mu_scan_block(
			    scan, scan->blocks->listed[i].range.begin);
			mu_scan_finish(scan);
		}
	}
}

enum mu_status
mu_mark_bounded(struct mu_blocks *blocks, const struct mu_roots *roots,
    struct mu_memory *memory, struct mu_arena *arena, uint64_t deadline_ns,
    size_t max_depth)
{
	struct mu_scan scan = { .blocks = blocks,
		.memory = memory,
		.deadline = { .ns = deadline_ns } };
	enum mu_status status = mu_scan_open(&scan, arena, max_depth);

	if (status != MU_OK)
		return status;
	mark_roots(&scan, roots);
	rescan_dropped(&scan);
	return scan.deadline.passed ? MU_ERR_TIMEOUT : MU_OK;
}

enum mu_status
mu_mark(struct mu_blocks *blocks, const struct mu_roots *roots,
    struct mu_memory *memory, struct mu_arena *arena, uint64_t deadline_ns)
{
	size_t max_depth = blocks->count / 2;

	if (max_depth < MIN_DEPTH)
		max_depth = MIN_DEPTH;
	if (max_depth > MAX_DEPTH)
		max_depth = MAX_DEPTH;
	return mu_mark_bounded(
	    blocks, roots, memory, arena, deadline_ns, max_depth);
}
