/*
 * Groups: the struct metas of all areas that have one. Each group refers to its
 * own, and the slots of each size class are as many as the context counts
 * (alloc_group() and free_group()).
 */
#include "heapwalk/heaps/listing.h"
#include "heapwalk/heaps/musl/heap.h"
#include "heapwalk/heaps/slab.h"
#include "heapwalk/heaps/view.h"
#include "heapwalk/subject/each_word.h"

/* size_classes[], in units */
static const uint16_t classes[MU_MUSL_CLASSES] = { 1, 2, 3, 4, 5, 6, 7, 8, 9,
	10, 12, 15, 18, 20, 25, 31, 36, 42, 50, 63, 72, 84, 102, 127, 146, 170,
	204, 255, 292, 340, 409, 511, 584, 682, 818, 1023, 1169, 1364, 1637,
	2047, 2340, 2730, 3276, 4095, 4680, 5460, 6552, 8191 };

struct meta {
	uintptr_t mem;
	uint32_t avail, freed;
	unsigned last, class;
	bool freeable;
	size_t pages; /* 0: not a mapping */
};

struct reading {
	struct mu_musl_walk *walk;
	size_t usage[MU_MUSL_CLASSES]; /* slots found */
};

static enum mu_status
wrong(const struct mu_musl_walk *walk, uintptr_t at, const char *rule)
{
	return mu_why(walk->why, MU_ERR_HEAP_INCONSISTENT,
	    "musl's group at %p has %s", (void *)at, rule);
}

static struct meta
meta_at(const char *view)
{
	uintptr_t masks = mu_view_word(view + MU_MUSL_META_AVAIL);
	uintptr_t bits = mu_view_word(view + MU_MUSL_META_BITS);

	return (struct meta) {
		.mem = mu_view_word(view + MU_MUSL_META_MEM),
		.avail = (uint32_t)masks,
		.freed = (uint32_t)(masks >> 32),
		.last = bits & 31,
		.freeable = (bits >> 5 & 1) != 0,
		.class = bits >> 6 & 63,
		.pages = bits >> 12,
	};
}

/* get_stride(): a slot that has all of a mapping may be of any size. */
static size_t
stride_of(const struct meta *meta)
{
	if (meta->last == 0 && meta->pages > 0)
		return meta->pages * MU_MUSL_PAGE - MU_MUSL_UNIT;
	return (size_t)classes[meta->class] * MU_MUSL_UNIT;
}

static const char *
check_meta(const struct meta *meta)
{
	uint32_t all = (uint32_t)((2ull << meta->last) - 1);

	if (meta->mem % MU_MUSL_UNIT != 0 ||
	    meta->pages > SIZE_MAX / 4 / MU_MUSL_PAGE ||
	    (meta->pages > 0 && meta->mem % MU_MUSL_PAGE != 0))
		return "an impossible place";
	/* Slots lie at 16-bit multiples of 16 bytes. */
	if (meta->class < MU_MUSL_CLASSES && meta->pages > MU_MUSL_GROUP_PAGES)
		return "an impossible size";
	if (meta->class >= MU_MUSL_CLASSES &&
	    (meta->class != MU_MUSL_CLASS_ALONE || meta->last != 0 ||
		meta->pages == 0))
		return "an impossible size";
	if ((meta->avail & meta->freed) != 0 ||
	    ((meta->avail | meta->freed) & ~all) != 0)
		return "slots that are free twice, or that it does not have";
	if (meta->pages > 0 &&
	    stride_of(meta) * (meta->last + 1) + MU_MUSL_UNIT >
		meta->pages * MU_MUSL_PAGE)
		return "more slots than its mapping";
	return NULL;
}

static enum mu_status
add_group(struct reading *reading, uintptr_t at, const struct meta *meta)
{
	struct mu_musl_walk *walk = reading->walk;
	struct mu_musl_group group = {
		.meta = at,
		.stride = stride_of(meta),
		.last = meta->last,
		.alone = meta->class == MU_MUSL_CLASS_ALONE,
		.free = meta->avail | meta->freed,
	};
	size_t size = MU_MUSL_UNIT + group.stride * (group.last + 1);

	if (meta->pages > 0)
		size = meta->pages * MU_MUSL_PAGE;
	if (__builtin_add_overflow(meta->mem, size, &group.range.end))
		return wrong(walk, meta->mem, "an impossible place");
	group.range.begin = meta->mem;
	if (meta->class < MU_MUSL_CLASSES && meta->freeable)
		reading->usage[meta->class] += meta->last + 1;
	/* One that is no mapping and can be freed lies in a slot. */
	group.nested = meta->pages == 0 && meta->freeable;
	if (!group.nested) {
		group.view = mu_heap_view(walk->snap, group.range);
		if (group.view == NULL)
			return wrong(walk, meta->mem, "no memory");
		if (!mu_ranges_add(&walk->heap->owned, group.range))
			return mu_heap_no_memory(walk->why);
	}
	if (!mu_arena_room(walk->memory, walk->groups, walk->num_groups,
		walk->max_groups, 256))
		return mu_heap_no_memory(walk->why);
	walk->groups[walk->num_groups++] = group;
	return MU_OK;
}

static enum mu_status
read_area(struct reading *reading, uintptr_t area, const char *view)
{
	struct mu_musl_walk *walk = reading->walk;
	enum mu_status status = MU_OK;
	struct meta meta;
	const char *rule;
	size_t at;

	for (at = MU_MUSL_AREA_SLOTS;
	     status == MU_OK && at + MU_MUSL_META <= MU_MUSL_PAGE;
	     at += MU_MUSL_META) {
		meta = meta_at(view + at);
		if (meta.mem == 0)
			continue;
		rule = check_meta(&meta);
		status = rule != NULL ? wrong(walk, meta.mem, rule)
				      : add_group(reading, area + at, &meta);
	}
	if (status == MU_OK &&
	    !mu_ranges_add(&walk->heap->owned,
		(struct mu_range) { area, area + MU_MUSL_PAGE }))
		status = mu_heap_no_memory(walk->why);
	return status;
}

/* MARK follows the list at half the pace, which a circle does not escape. */
static enum mu_status
read_areas(struct reading *reading)
{
	struct mu_musl_walk *walk = reading->walk;
	uintptr_t secret = mu_word_at(walk->snap, walk->context);
	uintptr_t area =
	    mu_word_at(walk->snap, walk->context + MU_MUSL_AREA_HEAD);
	uintptr_t mark = area, last = 0;
	enum mu_status status = MU_OK;
	const char *view;
	size_t count;

	for (count = 1; status == MU_OK && area != 0; count++) {
		view = mu_snapshot_view(walk->snap, area, MU_MUSL_PAGE);
		if (view == NULL || area % MU_MUSL_PAGE != 0 ||
		    mu_view_word(view + MU_MUSL_AREA_CHECK) != secret)
			return wrong(walk, area, "no area of groups");
		status = read_area(reading, area, view);
		last = area;
		area = mu_view_word(view + MU_MUSL_AREA_NEXT);
		if (count % 2 == 0)
			mark = mu_word_at(walk->snap, mark + MU_MUSL_AREA_NEXT);
		if (area != 0 && area == mark)
			return wrong(walk, area, "a circle of areas");
	}
	if (status == MU_OK &&
	    last != mu_word_at(walk->snap, walk->context + MU_MUSL_AREA_TAIL))
		return wrong(walk, last, "areas behind the last one");
	return status;
}

enum mu_status
mu_musl_groups_read(struct mu_musl_walk *walk)
{
	struct reading reading = { .walk = walk };
	enum mu_status status = read_areas(&reading);
	uintptr_t counts = walk->context + MU_MUSL_USAGE;
	size_t i;

	for (i = 0; status == MU_OK && i < MU_MUSL_CLASSES; i++)
		if (mu_word_at(walk->snap, counts + i * sizeof(counts)) !=
		    reading.usage[i])
			status = mu_why(walk->why, MU_ERR_HEAP_INCONSISTENT,
			    "musl's groups of slots of %u bytes do not have as"
			    " many as it counts",
			    classes[i] * MU_MUSL_UNIT);
	return status;
}
