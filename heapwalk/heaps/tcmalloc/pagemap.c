/*
 * The page map has the span of the first and the last page of each span, and of
 * all pages of one of a size class. Spans follow each other: pages of one that
 * is free or large may have entries of former spans, but where a span ends
 * another one begins, or there is no entry.
 */
#include "heapwalk/heaps/listing.h"
#include "heapwalk/heaps/tcmalloc/heap.h"
#include "heapwalk/heaps/view.h"
#include "heapwalk/subject/classify.h"

struct map {
	struct mu_tc_walk *walk;
	enum mu_status status;
	uintptr_t first; /* page of the leaf's first entry */
	uintptr_t leaf;
	uintptr_t span, next;   /* the last span; the page that follows it */
	size_t length, entries; /* its pages; those with its entry */
	bool closed, classed;   /* its last page has one; it has a class */
	size_t leaves, empty;   /* that have spans; that have none */
};

static bool
fail(struct map *map, uintptr_t span, const char *rule)
{
	map->status = mu_tc_wrong(map->walk, "span", span, rule);
	return false;
}

/* What must be true of the entries of the last span, when all were seen. */
static bool
is_complete(const struct map *map)
{
	return map->span == 0 ||
	    (map->classed ? map->entries == map->length : map->closed);
}

static bool
add_span(struct map *map, const char *view, struct mu_range range)
{
	struct mu_tc_walk *walk = map->walk;
	uint32_t bits = mu_view_u32(view + MU_TC_SPAN_BITS);
	unsigned index = bits >> 16 & 0xff;
	const struct mu_tc_class *class = &walk->tc.classes[index];
	struct mu_tc_span span = {
		.range = range,
		.size = index == 0 ? mu_range_size(range) : class->size,
		.index = index,
		.at = map->span,
		.refcount = bits & 0xffff,
		.sampled = index == 0 && (bits >> 26 & 1) != 0,
		.objects = mu_view_word(view + MU_TC_SPAN_OBJECTS),
	};

	if (index >= walk->tc.num_classes ||
	    (index != 0 && map->length != class->pages))
		return fail(map, map->span, "an impossible size class");
	if (!mu_arena_room(walk->memory, walk->spans, walk->num_spans,
		walk->max_spans, 256)) {
		map->status = mu_heap_no_memory(walk->why);
		return false;
	}
	map->classed = index != 0;
	walk->spans[walk->num_spans++] = span;
	return true;
}

/* The memory of spans that follow each other is one range. */
static bool
own(struct map *map, struct mu_range span, struct mu_range memory)
{
	struct mu_ranges *owned = &map->walk->owned;

	if (mu_ranges_add(owned, span) && mu_ranges_add(owned, memory))
		return true;
	map->status = mu_heap_no_memory(map->walk->why);
	return false;
}

static bool
begin_span(struct map *map, uintptr_t page, uintptr_t span)
{
	struct mu_tc_walk *walk = map->walk;
	const char *view = mu_snapshot_view(walk->snap, span, MU_TC_SPAN);
	unsigned shift = walk->tc.shift, location;
	uintptr_t end = (uintptr_t)1 << (MU_TC_ADDRESS_BITS - shift);
	struct mu_range range;

	if (view == NULL || mu_view_word(view) != page)
		return fail(map, span, "another first page");
	map->span = span;
	map->length = mu_view_word(view + MU_TC_SPAN_LENGTH);
	map->entries = 0;
	map->closed = map->classed = false;
	if (map->length == 0 || map->length > end - page)
		return fail(map, span, "an impossible length");
	map->next = page + map->length;
	range = (struct mu_range) { page << shift, map->next << shift };
	if (!own(map, (struct mu_range) { span, span + MU_TC_SPAN }, range))
		return false;
	location = mu_view_u32(view + MU_TC_SPAN_BITS) >> 24 & 3;
	if (location == MU_TC_IN_USE)
		return add_span(map, view, range);
	if (location > MU_TC_RETURNED)
		return fail(map, span, "an impossible location");
	walk->free[location] += mu_range_size(range);
	walk->num_free++;
	return true;
}

static bool
see_entry(void *ctx, uintptr_t at, uintptr_t word)
{
	struct map *map = ctx;
	uintptr_t page = map->first + (at - map->leaf) / sizeof(word);

	if (page >= map->next) {
		if (!is_complete(map))
			return fail(map, map->span, "pages of other spans");
		if (!begin_span(map, page, word))
			return false;
	}
	map->entries += word == map->span;
	map->closed |= word == map->span && page == map->next - 1;
	return true;
}

/*
 * A span's leaf may be followed or preceded by one without spans: entries for
 * the pages beside it are provided for.
 */
static bool
see_leaf(void *ctx, uintptr_t at, uintptr_t word)
{
	struct map *map = ctx;
	struct mu_tc_walk *walk = map->walk;
	size_t bits = mu_tc_leaf_bits(walk->tc.shift), size;
	uintptr_t last = map->span;
	struct mu_range leaf;

	size = sizeof(word) << bits;
	leaf = (struct mu_range) { word, word + size };
	if (word % sizeof(word) != 0 || leaf.end < leaf.begin ||
	    !mu_mappings_are_anonymous(
		walk->snap->mappings, walk->snap->num_mappings, leaf)) {
		map->status = mu_tc_wrong(
		    walk, "page map", at, "a leaf that is not mapped");
		return false;
	}
	map->leaf = word;
	map->first = (at - walk->tc.root) / sizeof(word) << bits;
	if (!own(map, (struct mu_range) { 0, 0 }, leaf))
		return false;
	walk->overhead += size;
	mu_each_word(walk->snap, leaf, see_entry, map);
	map->leaves += map->span != last;
	map->empty += map->span == last;
	if (map->status == MU_OK && map->empty > 2 * map->leaves + 2)
		map->status = mu_tc_wrong(
		    walk, "page map", at, "too many leaves without spans");
	return map->status == MU_OK;
}

/* All bytes of the heap are in spans, and those not in use are counted. */
static enum mu_status
check_stats(const struct mu_tc_walk *walk)
{
	const struct mu_tcmalloc *tc = &walk->tc;
	uintptr_t stats = tc->root + mu_tc_root_bytes(tc->shift) +
	    sizeof(uintptr_t) + MU_TC_SETS + MU_TC_LISTS(tc->shift);
	size_t sum = walk->free[MU_TC_NORMAL] + walk->free[MU_TC_RETURNED], i;

	for (i = 0; i < walk->num_spans; i++)
		sum += mu_range_size(walk->spans[i].range);
	if (mu_word_at(walk->snap, stats + MU_TC_STATS_SYSTEM) != sum ||
	    mu_word_at(walk->snap, stats + MU_TC_STATS_FREE) !=
		walk->free[MU_TC_NORMAL] ||
	    mu_word_at(walk->snap, stats + MU_TC_STATS_RETURNED) !=
		walk->free[MU_TC_RETURNED])
		return mu_tc_wrong(walk, "page heap", stats,
		    "counted other bytes than its spans have");
	return MU_OK;
}

enum mu_status
mu_tc_spans_read(struct mu_tc_walk *walk)
{
	const struct mu_tcmalloc *tc = &walk->tc;
	uintptr_t end = tc->root + mu_tc_root_bytes(tc->shift);
	struct map map = { .walk = walk };

	mu_each_word(
	    walk->snap, (struct mu_range) { tc->root, end }, see_leaf, &map);
	if (map.status != MU_OK)
		return map.status;
	if (!is_complete(&map))
		return mu_tc_wrong(
		    walk, "span", map.span, "pages of other spans");
	/* What the lists lead to would be a reference to it. */
	if (!mu_ranges_add(&walk->owned,
		(struct mu_range) { tc->root - MU_TC_PACKED,
		    end + MU_TC_SETS + MU_TC_LISTS(tc->shift) }))
		return mu_heap_no_memory(walk->why);
	return check_stats(walk);
}
