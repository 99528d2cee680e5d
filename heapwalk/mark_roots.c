/*
 * The roots of a marking: see heapwalk/mark_roots.h.
 *
 * Runs in: sweeper (any). Uses no malloc, no errno, no libc lock.
 */
#include "heapwalk/mark_roots.h"

#include <string.h>

#include "heapwalk/references.h"

#define WORD sizeof(uintptr_t)

static void
mark_chunk(struct mu_scan *scan, uintptr_t header)
{
	struct mu_block block;

	if (mu_reference_by_header(scan->blocks, header, &block))
		mu_scan_word(
		    scan, (struct mu_scan_word) { block.range.begin, 0 });
}

static bool
is_everywhere(const struct mu_scan *scan, const struct mu_root *root)
{
	return root->code || scan->blocks->words.unaligned;
}

/* The words that begin in LEFT and end in RIGHT, right behind it. */
static void
mark_seam(struct mu_scan *scan, const struct mu_root *left,
    const struct mu_root *right)
{
	char seam[2 * (WORD - 1)];
	size_t before = mu_range_size(left->range), after;
	struct mu_range range;

	after = mu_range_size(right->range);
	if (before > WORD - 1)
		before = WORD - 1;
	if (after > WORD - 1)
		after = WORD - 1;
	memcpy(seam, left->view + mu_range_size(left->range) - before, before);
	memcpy(seam + before, right->view, after);
	range.begin = left->range.end - before;
	range.end = left->range.end + after;
	mu_scan_code(scan, seam, range);
}

static void
mark_range(struct mu_scan *scan, const struct mu_roots *roots, size_t i)
{
	const struct mu_root *root = &roots->ranges[i];

	if (root->code)
		mu_scan_code(scan, root->view, root->range);
	else
		mu_scan_root(scan, root->view, root->range);
	if (i > 0 && root[-1].range.end == root->range.begin &&
	    is_everywhere(scan, root) && is_everywhere(scan, root - 1))
		mark_seam(scan, root - 1, root);
}

static void
mark_value(struct mu_scan *scan, uintptr_t value)
{
	value = mu_reference_untag(scan->blocks, value);
	if (mu_range_has(scan->blocks->envelope, value))
		mu_scan_word(scan, (struct mu_scan_word) { value, 0 });
}

static void
mark_values(struct mu_scan *scan, const struct mu_roots *roots)
{
	const uintptr_t *values = roots->values;
	uintptr_t word;
	size_t i, shift;

	for (i = 0; i < roots->num_headers; i++)
		mark_chunk(scan, roots->headers[i]);
	for (i = 0; i < roots->num_values; i++) {
		mark_value(scan, values[i]);
		/* Vector registers are rows of bytes; so are their values. */
		for (shift = 1; scan->blocks->words.unaligned &&
		     i + 1 < roots->num_values && shift < WORD;
		     shift++) {
			memcpy(&word, (const char *)&values[i] + shift, WORD);
			mark_value(scan, word);
		}
	}
}

static void
mark_kept(struct mu_scan *scan, size_t i)
{
	struct mu_listed *listed = scan->blocks->listed;
	size_t end = i + MU_SHARE_TICKET_ROOTS;

	for (; i < end && i < scan->blocks->num_listed; i++) {
		if (!listed[i].keep)
			continue;
		/* Who points at it need not look further. */
		__atomic_store_n(&listed[i].marked, true, __ATOMIC_RELAXED);
		mu_scan_take_listed(&listed[i]);
		if (mu_reference_in_code(scan->blocks, listed[i].range))
			mu_scan_code(scan, listed[i].view, listed[i].range);
		else
			mu_scan_root(scan, listed[i].view, listed[i].range);
	}
}

static size_t
kept_tickets(const struct mu_blocks *blocks)
{
	return (blocks->num_listed + MU_SHARE_TICKET_ROOTS - 1) /
	    MU_SHARE_TICKET_ROOTS;
}

/* Tickets: blocks that are kept, memory, single words. */
static void
mark_some(void *ctx, struct mu_scan *scan, size_t ticket)
{
	const struct mu_roots *roots = ctx;
	size_t kept = kept_tickets(scan->blocks);

	if (ticket < kept)
		mark_kept(scan, ticket * MU_SHARE_TICKET_ROOTS);
	else if (ticket - kept < roots->num_ranges)
		mark_range(scan, roots, ticket - kept);
	else
		mark_values(scan, roots);
}

void
mu_mark_roots(struct mu_marking *marking, const struct mu_roots *roots)
{
	mu_marking_run(marking, marking->num_scans,
	    kept_tickets(marking->blocks) + roots->num_ranges + 1, mark_some,
	    (void *)roots);
}
