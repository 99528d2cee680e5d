/*
 * Read a heap of mallocng: the slots of its groups that are in use. Either all
 * that it counts agrees or the heap is refused.
 *
 * Threads may be stopped in malloc. Under its lock they change groups, which
 * the sums show; without, a slot and its bit.
 */
#include "heapwalk/heaps/musl/musl.h"

#include "heapwalk/heaps/listing.h"
#include "heapwalk/heaps/musl/heap.h"
#include "heapwalk/heaps/spans.h"
#include "heapwalk/heaps/view.h"
#include "heapwalk/subject/dynamic_symbols.h"
#include "heapwalk/subject/each_word.h"
#include "mu/sort.h"

static enum mu_status
wrong(const struct mu_musl_walk *walk, uintptr_t at, const char *rule)
{
	return mu_why(walk->why, MU_ERR_HEAP_INCONSISTENT,
	    "musl's group at %p has %s", (void *)at, rule);
}

static enum mu_status
add_spans(struct mu_musl_walk *walk)
{
	struct mu_blocks *blocks = &walk->heap->blocks;
	const struct mu_musl_group *group = walk->groups;
	const struct mu_musl_group *end = group + walk->num_groups;
	struct mu_span *span;

	for (; group < end; group++) {
		if (group->nested || group->alone)
			continue;
		span = mu_blocks_add_span(blocks, group->range, group->view);
		if (span == NULL)
			return mu_heap_no_memory(walk->why);
		span->heap = walk->member;
		span->tail = MU_MUSL_IN_BAND;
		mu_span_begin(span, 0, 0, 0);
	}
	mu_blocks_sort_spans(blocks);
	return MU_OK;
}

/*
 * A block ends at a grain, less the 4 bytes of what follows: up to 15 bytes are
 * counted as the program's that are not.
 */
static enum mu_status
add_to_span(struct mu_musl_walk *walk, struct mu_span *span,
    const struct mu_musl_slot *slot)
{
	size_t begin = slot->block.begin - span->range.begin, size;
	size_t end = slot->block.end - span->range.begin + MU_MUSL_IN_BAND;

	if (mu_span_test(span, slot->block.begin))
		return wrong(walk, slot->block.begin, "a block of two groups");
	end = (end + MU_GRAIN - 1) / MU_GRAIN;
	mu_span_begin(span, begin / MU_GRAIN, 1, 0);
	mu_span_begin(span, end, 0, 0);
	size = end * MU_GRAIN - MU_MUSL_IN_BAND - begin;
	span->count++;
	span->bytes += size;
	walk->heap->usage.live_reachable += size;
	return MU_OK;
}

static enum mu_status
add_block(struct mu_musl_walk *walk, const struct mu_musl_group *group,
    struct mu_span *span, const struct mu_musl_slot *slot)
{
	struct mu_blocks *blocks = &walk->heap->blocks;
	enum mu_status status;

	if (span != NULL)
		return add_to_span(walk, span, slot);
	walk->heap->usage.live_reachable += mu_range_size(slot->block);
	status = mu_blocks_add(blocks, slot->block,
	    group->view + (slot->block.begin - group->range.begin), false);
	if (status != MU_OK)
		return mu_heap_no_memory(walk->why);
	blocks->listed[blocks->num_listed - 1].heap = walk->member;
	return MU_OK;
}

/*
 * The group in a slot, at VIEW, is one of those that were read: it refers to
 * its meta. That is near others which are in the image already.
 */
static enum mu_status
see_nested(struct mu_musl_walk *walk, uintptr_t group, const char *view)
{
	const char *meta = mu_snapshot_view(walk->snap,
	    mu_view_word(view) + MU_MUSL_META_MEM, sizeof(uintptr_t));

	walk->num_nested++;
	return meta != NULL && mu_view_word(meta) == group
	    ? MU_OK
	    : wrong(walk, group, "no meta");
}

/* Threads in malloc have the address of a meta before that of its slot. */
static enum mu_status
find_held(struct mu_musl_walk *walk)
{
	const struct mu_snapshot *snap = walk->snap;
	uintptr_t secret = mu_word_at(snap, walk->context), value, area;
	const struct mu_thread *thread = snap->threads;
	const struct mu_thread *end = thread + snap->num_threads;
	size_t i;

	for (; thread < end; thread++)
		for (i = 0; i < thread->num_values; i++) {
			value = snap->values[thread->first_value + i];
			area = value & ~(uintptr_t)(MU_MUSL_PAGE - 1);
			if (value % sizeof(value) != 0 || area == 0 ||
			    mu_word_at(snap, area) != secret)
				continue;
			if (!mu_arena_room(walk->memory, walk->held,
				walk->num_held, walk->max_held, 16))
				return mu_heap_no_memory(walk->why);
			walk->held[walk->num_held++] = value;
		}
	return MU_OK;
}

/* The first slot of a new group has no mark of its own before it is used. */
static bool
is_in_transit(const struct mu_musl_walk *walk,
    const struct mu_musl_group *group, const struct mu_musl_slot *slot)
{
	size_t i;

	for (i = 0; slot->blank && i < walk->num_held; i++)
		if (walk->held[i] == group->meta)
			return true;
	return false;
}

static enum mu_status
add_unproven(struct mu_musl_walk *walk, const struct mu_musl_group *group,
    unsigned index)
{
	uintptr_t begin =
	    group->range.begin + MU_MUSL_UNIT + group->stride * index;

	walk->in_transit++;
	return mu_ranges_add(&walk->unproven,
		   (struct mu_range) {
		       begin, begin + group->stride - MU_MUSL_IN_BAND })
	    ? MU_OK
	    : mu_heap_no_memory(walk->why);
}

static enum mu_status
read_slot(struct mu_musl_walk *walk, const struct mu_musl_group *group,
    struct mu_span *span, const char *view, unsigned index)
{
	struct mu_musl_slot slot;

	if ((group->free >> index & 1) != 0)
		return MU_OK;
	if (!mu_musl_slot_read(group, view, index, &slot) ||
	    is_in_transit(walk, group, &slot))
		return add_unproven(walk, group, index);
	if (slot.group)
		return see_nested(walk, slot.block.begin,
		    view + (slot.block.begin - group->range.begin));
	return add_block(walk, group, span, &slot);
}

static enum mu_status
read_group(struct mu_musl_walk *walk, const struct mu_musl_group *group)
{
	enum mu_status status = MU_OK;
	struct mu_span *span = NULL;
	const char *view = group->view;
	unsigned i;

	if (!group->alone) {
		span = mu_blocks_span(&walk->heap->blocks, group->range.begin);
		if (span == NULL || group->range.end > span->range.end)
			return wrong(
			    walk, group->range.begin, "no slot around it");
		view = span->view + (group->range.begin - span->range.begin);
	}
	if (mu_view_word(view) != group->meta)
		return wrong(walk, group->range.begin, "another meta");
	for (i = 0; status == MU_OK && i <= group->last; i++)
		status = read_slot(walk, group, span, view, i);
	return status;
}

static enum mu_status
read_groups(struct mu_musl_walk *walk)
{
	const struct mu_musl_group *group = walk->groups;
	const struct mu_musl_group *end = group + walk->num_groups;
	struct mu_heap_usage *usage = &walk->heap->usage;
	size_t nested = 0, bytes = 0, before = usage->live_reachable;
	enum mu_status status = MU_OK;

	/* In the order of addresses the image is read once. */
	mu_sort(walk->groups, walk->num_groups, sizeof(*walk->groups),
	    mu_range_compare);
	for (; status == MU_OK && group < end; group++) {
		status = read_group(walk, group);
		nested += group->nested;
		bytes += group->nested ? 0 : mu_range_size(group->range);
	}
	if (status != MU_OK)
		return status;
	usage->free_held += bytes - (usage->live_reachable - before);
	if (nested != walk->num_nested)
		return mu_why(walk->why, MU_ERR_HEAP_INCONSISTENT,
		    "musl has %zu groups in slots, and %zu such slots", nested,
		    walk->num_nested);
	if (walk->in_transit > walk->snap->num_threads)
		return mu_why(walk->why, MU_ERR_HEAP_INCONSISTENT,
		    "musl has %zu slots in use without a block",
		    walk->in_transit);
	return MU_OK;
}

/* What is not owned is a root. */
static bool
own_proven(struct mu_musl_walk *walk)
{
	struct mu_ranges *owned = &walk->heap->owned, left;
	struct mu_range rest, piece;
	size_t i;

	mu_ranges_seal(owned);
	mu_ranges_seal(&walk->unproven);
	mu_ranges_open(&left, owned->arena);
	for (i = 0; i < owned->count; i++)
		for (rest = owned->items[i];
		     mu_ranges_gap(&walk->unproven, &rest, &piece);)
			if (!mu_ranges_add(&left, piece))
				return false;
	*owned = left;
	return true;
}

bool
mu_musl_is_used(const struct mu_snapshot *snap)
{
	struct mu_musl musl;

	mu_musl_find(&musl, snap);
	return musl.found.file != NULL;
}

static enum mu_status
detect(struct mu_heap_member *member, const struct mu_snapshot *snap,
    struct mu_arena *arena, struct mu_why *why)
{
	struct mu_musl musl;

	mu_musl_find(&musl, snap);
	/* The dynamic linker uses musl's own malloc in any case. */
	if (musl.found.file != NULL && member->num_others == 0 &&
	    !mu_program_is_static(snap) && mu_malloc_has_other(snap))
		return mu_why(why, MU_ERR_FOREIGN_ALLOCATOR,
		    "the program has another malloc in place of musl's");
	return mu_heap_found_keep(
	    member, &musl.found, sizeof(musl), arena, why);
}

static enum mu_status
list(struct mu_heap *heap, const struct mu_heap_member *member,
    const struct mu_snapshot *snap, struct mu_arena *arena, struct mu_why *why)
{
	const struct mu_musl *musl = member->state;
	struct mu_musl_walk walk = {
		.snap = snap,
		.memory = arena,
		.why = why,
		.member = member,
		.context = musl->context,
		.heap = heap,
	};
	enum mu_status status;

	mu_ranges_open(&walk.unproven, arena);
	status = mu_musl_groups_read(&walk);
	if (status == MU_OK)
		status = add_spans(&walk);
	if (status == MU_OK)
		status = find_held(&walk);
	if (status == MU_OK)
		status = read_groups(&walk);
	if (status != MU_OK)
		return status;
	return own_proven(&walk) ? mu_heap_seal(heap, "musl", NULL, why)
				 : mu_heap_no_memory(why);
}

const struct mu_heap_ops mu_heap_musl = {
	.name = "musl",
	.libc = true,
	.detect = detect,
	.has_file = mu_heap_found_has_file,
	.list = list,
};
