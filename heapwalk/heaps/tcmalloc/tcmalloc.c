/*
 * Read a heap of gperftools' tcmalloc: the spans in use, less the objects that
 * are free. Either all that tcmalloc counts agrees or the heap is refused.
 */
#include "heapwalk/heaps/tcmalloc/tcmalloc.h"

#include "heapwalk/heaps/listing.h"
#include "heapwalk/heaps/tcmalloc/heap.h"
#include "heapwalk/heaps/view.h"
#include "heapwalk/subject/classify.h"

/*
 * Before 2.14 MallocExtension::Register() replaces an object of tcmalloc, which
 * is then lost: all that it has is the address of its functions.
 */
static bool
is_extension(const struct mu_tc_walk *walk, const struct mu_listed *block)
{
	const struct mu_mapping *file = walk->tc.found.file;
	const struct mu_mapping *table;

	if (mu_range_size(block->range) != sizeof(uintptr_t) ||
	    !mu_starts_with(mu_path_base(file->name), "libtcmalloc"))
		return false;
	table = mu_snapshot_mapping(walk->snap, mu_view_word(block->view));
	return table != NULL && mu_mapping_same_file(table, file);
}

static enum mu_status
add_span(struct mu_heap *heap, const struct mu_tc_walk *walk,
    const struct mu_tc_span *span, const struct mu_heap_member *member)
{
	struct mu_blocks *blocks = &heap->blocks;
	size_t i = blocks->num_listed;
	enum mu_status status = mu_slab_add(heap, &span->slab, member);

	for (; i < blocks->num_listed; i++)
		blocks->listed[i].keep |=
		    span->keep || is_extension(walk, &blocks->listed[i]);
	return status;
}

static enum mu_status
add_all(struct mu_heap *heap, const struct mu_tc_walk *walk,
    const struct mu_heap_member *member)
{
	size_t before = heap->usage.live_reachable, held = 0, i;
	enum mu_status status = MU_OK;

	for (i = 0; status == MU_OK && i < walk->num_spans; i++) {
		status = add_span(heap, walk, &walk->spans[i], member);
		held += mu_range_size(walk->spans[i].range);
	}
	/* What was given back to the kernel is held no longer. */
	heap->usage.free_held += walk->free[MU_TC_NORMAL] + held -
	    (heap->usage.live_reachable - before);
	heap->usage.overhead += walk->overhead;
	if (status != MU_OK)
		return mu_heap_no_memory(walk->why);
	return mu_heap_seal(heap, "tcmalloc", &walk->owned, walk->why);
}

static enum mu_status
detect(struct mu_heap_member *member, const struct mu_snapshot *snap,
    struct mu_arena *arena, struct mu_why *why)
{
	struct mu_tcmalloc tc;

	mu_tc_find(&tc, snap);
	return mu_heap_found_keep(member, &tc.found, sizeof(tc), arena, why);
}

static enum mu_status
list(struct mu_heap *heap, const struct mu_heap_member *member,
    const struct mu_snapshot *snap, struct mu_arena *arena, struct mu_why *why)
{
	struct mu_tc_walk walk = {
		.snap = snap,
		.memory = arena,
		.why = why,
		.tc = *(const struct mu_tcmalloc *)member->state,
	};
	enum mu_status status;

	mu_ranges_open(&walk.owned, arena);
	status = mu_tc_spans_read(&walk);
	if (status == MU_OK)
		status = mu_tc_objects_read(&walk);
	if (status == MU_OK)
		status = mu_tc_central_take(&walk);
	if (status == MU_OK)
		status = mu_tc_threads_take(&walk);
	if (status == MU_OK)
		status = mu_tc_unused_spans_own(&walk);
	mu_tc_inside_keep(&walk);
	return status == MU_OK ? add_all(heap, &walk, member) : status;
}

const struct mu_heap_ops mu_heap_tcmalloc = {
	.name = "tcmalloc",
	.detect = detect,
	.has_file = mu_heap_found_has_file,
	.list = list,
};
