/* Seal the table of live blocks: sort it, check for overlaps, count. */
#include <string.h>

#include "heapwalk/heaps/blocks.h"
#include "heapwalk/heaps/spans.h"
#include "heapwalk/subject/ranges.h"
#include "mu/range.h"
#include "mu/sort.h"

static int
compare_orders(const void *a, const void *b)
{
	const struct mu_listed *left = a, *right = b;

	return (left->order > right->order) - (left->order < right->order);
}

static bool
overlaps_span(const struct mu_blocks *blocks, struct mu_range range)
{
	size_t i = mu_ranges_upper(blocks->spans, blocks->num_spans,
	    sizeof(*blocks->spans), range.end - 1);

	return i > 0 && blocks->spans[i - 1].range.end > range.begin;
}

/*
 * Resolve COUNT blocks that are connected by overlaps: keep each one that
 * overlaps none of those kept before it, in the order of addition. Returns how
 * many; they are moved to the front, by address.
 */
static size_t
remove_overlaps(struct mu_listed *listed, size_t count)
{
	struct mu_listed one;
	size_t i, at, kept = 0;

	mu_sort(listed, count, sizeof(*listed), compare_orders);
	for (i = 0; i < count; i++) {
		one = listed[i];
		at = mu_ranges_upper(
		    listed, kept, sizeof(*listed), one.range.begin);
		if (at > 0 && listed[at - 1].range.end > one.range.begin)
			continue;
		if (at < kept && listed[at].range.begin < one.range.end)
			continue;
		memmove(&listed[at + 1], &listed[at],
		    (kept - at) * sizeof(*listed));
		listed[at] = one;
		kept++;
	}
	return kept;
}

static void
remove_all_overlaps(struct mu_blocks *blocks)
{
	struct mu_listed *listed = blocks->listed;
	size_t i, count, kept, out = 0;
	uintptr_t end;

	for (i = 0; i < blocks->num_listed; i++) {
		if (!overlaps_span(blocks, listed[i].range))
			listed[out++] = listed[i];
	}
	blocks->num_listed = out;
	mu_sort(listed, out, sizeof(*listed), mu_range_compare);

	for (i = 0, out = 0; i < blocks->num_listed; i += count) {
		end = listed[i].range.end;
		for (count = 1; i + count < blocks->num_listed &&
		     listed[i + count].range.begin < end;
		     count++) {
			if (listed[i + count].range.end > end)
				end = listed[i + count].range.end;
		}
		kept = count > 1 ? remove_overlaps(&listed[i], count) : 1;
		memmove(&listed[out], &listed[i], kept * sizeof(*listed));
		out += kept;
	}
	blocks->num_listed = out;
	/* Keep these before blocks that are added later. */
	for (i = 0; i < out; i++)
		listed[i].order = i;
}

static void
widen(struct mu_range *envelope, struct mu_range range)
{
	if (envelope->end == 0 || range.begin < envelope->begin)
		envelope->begin = range.begin;
	if (range.end > envelope->end)
		envelope->end = range.end;
}

void
mu_blocks_sort_spans(struct mu_blocks *blocks)
{
	mu_sort(blocks->spans, blocks->num_spans, sizeof(*blocks->spans),
	    mu_range_compare);
	blocks->spans_mixed = false;
}

enum mu_status
mu_blocks_seal(struct mu_blocks *blocks, size_t *rejected)
{
	size_t i, added = blocks->num_listed;

	mu_blocks_sort_spans(blocks);
	blocks->envelope = (struct mu_range) { 0, 0 };
	blocks->count = blocks->bytes = 0;
	for (i = 0; i < blocks->num_spans; i++) {
		if (i > 0 &&
		    blocks->spans[i - 1].range.end >
			blocks->spans[i].range.begin)
			return MU_ERR_HEAP_INCONSISTENT;
		widen(&blocks->envelope, blocks->spans[i].range);
		blocks->count += blocks->spans[i].count;
		blocks->bytes += blocks->spans[i].bytes;
	}
	remove_all_overlaps(blocks);
	for (i = 0; i < blocks->num_listed; i++) {
		widen(&blocks->envelope, blocks->listed[i].range);
		blocks->count++;
		blocks->bytes += mu_range_size(blocks->listed[i].range);
	}
	if (rejected != NULL)
		*rejected = added - blocks->num_listed;
	blocks->sealed = true;
	return MU_OK;
}
