/*
 * Objects of spans of a size class. A span has a list of those that are free;
 * those that are cached elsewhere count as used, and are linked in the same
 * way.
 */
#include <string.h>

#include "heapwalk/heaps/listing.h"
#include "heapwalk/heaps/tcmalloc/heap.h"
#include "heapwalk/heaps/view.h"

const char *
mu_tc_take_of(const struct mu_tc_span *span, uintptr_t address)
{
	size_t at = address - span->range.begin, object = at / span->size;
	uint64_t bit = 1ull << (object % 64);

	if (object >= span->slab.count || at != object * span->size ||
	    (span->live[object / 64] & bit) == 0)
		return NULL;
	span->live[object / 64] &= ~bit;
	return span->slab.view + at;
}

const char *
mu_tc_take(const struct mu_tc_walk *walk, uintptr_t address, unsigned index)
{
	const struct mu_tc_span *span;
	size_t i = mu_ranges_upper(
	    walk->spans, walk->num_spans, sizeof(*walk->spans), address);

	span = i == 0 ? NULL : &walk->spans[i - 1];
	return span != NULL && span->index == index &&
		mu_range_has(span->range, address)
	    ? mu_tc_take_of(span, address)
	    : NULL;
}

/*
 * A block that was sampled has pages, but only the bytes of the size class that
 * it would have. Its StackTrace begins with the size that was asked for.
 */
static enum mu_status
read_sampled(const struct mu_tc_walk *walk, struct mu_tc_span *span)
{
	size_t size = mu_word_at(walk->snap, span->objects), i;
	const struct mu_tc_class *classes = walk->tc.classes;

	if (size > span->size)
		return mu_tc_wrong(walk, "span of pages", span->range.begin,
		    "a sample of more bytes");
	for (i = 1; i < walk->tc.num_classes && classes[i].size < size;)
		i++;
	if (i < walk->tc.num_classes && classes[i].size < span->size)
		span->size = classes[i].size;
	return MU_OK;
}

/* All objects of SPAN are live at first. */
static enum mu_status
open_span(const struct mu_tc_walk *walk, struct mu_tc_span *span)
{
	size_t count =
	    span->index == 0 ? 1 : mu_range_size(span->range) / span->size;
	size_t words = count / 64 + 1;

	span->live = mu_arena_alloc(walk->memory, words, sizeof(*span->live));
	if (span->live == NULL)
		return mu_heap_no_memory(walk->why);
	memset(span->live, 0xff, words * sizeof(*span->live));
	span->slab = (struct mu_slab) {
		.range = span->range,
		.size = span->size,
		.count = count,
		.live = span->live,
		.view = mu_heap_view(walk->snap, span->range),
	};
	if (span->slab.view == NULL)
		return mu_tc_wrong(walk, "span of pages", span->range.begin,
		    "memory that cannot be read");
	return MU_OK;
}

/* Each object is taken once, so that the list ends. */
static enum mu_status
take_list(struct mu_tc_walk *walk, const struct mu_tc_span *span)
{
	uintptr_t object = span->objects;
	const char *view;
	size_t count;

	for (count = 0; object != 0; count++) {
		view = mu_tc_take_of(span, object);
		if (view == NULL)
			return mu_tc_wrong(walk, "span of pages",
			    span->range.begin, "a list of other objects");
		object = mu_view_word(view);
	}
	if (count + span->refcount != span->slab.count)
		return mu_tc_wrong(walk, "span of pages", span->range.begin,
		    "another number of objects in use");
	walk->spans_of[span->index]++;
	walk->objects_of[span->index] += count;
	return MU_OK;
}

enum mu_status
mu_tc_objects_read(struct mu_tc_walk *walk)
{
	struct mu_tc_span *span = walk->spans;
	const struct mu_tc_span *end = span + walk->num_spans;
	enum mu_status status = MU_OK;

	for (; status == MU_OK && span < end; span++) {
		if (span->sampled)
			status = read_sampled(walk, span);
		if (status == MU_OK)
			status = open_span(walk, span);
		if (status == MU_OK && span->index != 0)
			status = take_list(walk, span);
	}
	return status;
}
