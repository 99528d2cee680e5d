/*
 * Read the heap of glibc's malloc without symbols. Either all rules hold or the
 * heap is refused.
 */
#include "heapwalk/heaps/glibc/foreign.h"
#include "heapwalk/heaps/glibc/freeze.h"
#include "heapwalk/heaps/glibc/glibc.h"
#include "heapwalk/heaps/glibc/in_malloc.h"
#include "heapwalk/heaps/glibc/lists.h"
#include "heapwalk/heaps/glibc/mmapped.h"
#include "heapwalk/heaps/glibc/old_links.h"
#include "heapwalk/heaps/glibc/stretch.h"
#include "heapwalk/heaps/glibc/tcache.h"
#include "heapwalk/heaps/glibc/usage.h"
#include "heapwalk/subject/classify.h"

#define KEY 8        /* offset in a tcache_entry */
#define HEAP_SIZE 16 /* heap_info: ar_ptr, prev, size */
#define RING_MAX 65536

/*
 * A live block that holds KEY, the word that malloc writes to entries of a
 * tcache.
 */
struct marked {
	uintptr_t key, found;
};

/* The malloc of a second libc has heaps, too, but its ring leads elsewhere. */
static bool
leads_to_ring(const struct mu_glibc_walk *walk, uintptr_t arena)
{
	const struct mu_glibc *glibc = &walk->glibc;
	uintptr_t mask = glibc->heap_max - 1;
	size_t steps, i;

	for (steps = 0; steps < RING_MAX; steps++) {
		for (i = 0; i < glibc->num_arenas; i++)
			if (arena == glibc->arenas[i])
				return true;
		if ((arena & mask) != glibc->layout->heap_header ||
		    mu_glibc_arena_word(walk, arena & ~mask, 0) != arena)
			return false;
		arena =
		    mu_glibc_arena_word(walk, arena, glibc->layout->arena_next);
	}
	return false;
}

static bool
is_heap(const struct mu_glibc_walk *walk, uintptr_t heap, uintptr_t end)
{
	size_t size = mu_glibc_arena_word(walk, heap, HEAP_SIZE);

	return size % walk->snap->memory.page_size == 0 && size > 0 &&
	    size <= walk->glibc.heap_max && size <= end - heap &&
	    leads_to_ring(walk, mu_glibc_arena_word(walk, heap, 0));
}

/*
 * A ring that returns too early, or a chain of heaps that ends too early,
 * breaks no rule. The omitted heaps would count as ordinary memory, and every
 * word in them as a root. But heaps can be recognised: they lie at multiples of
 * their greatest size, and name their arena, whose ring leads to the main one.
 */
static enum mu_status
check_strays(const struct mu_glibc_walk *walk)
{
	const struct mu_mapping *mapping = walk->snap->mappings;
	const struct mu_mapping *end = mapping + walk->snap->num_mappings;
	uintptr_t mask = walk->glibc.heap_max - 1, heap;

	for (; mapping < end; mapping++) {
		if (!mu_mapping_is_anonymous(mapping) || !mapping->readable ||
		    !mapping->writable)
			continue;
		heap = (mapping->range.begin + mask) & ~mask;
		for (;
		     heap >= mapping->range.begin && heap < mapping->range.end;
		     heap += mask + 1) {
			if (mu_ranges_has(&walk->stretches, heap) ||
			    !mu_glibc_written(walk, heap) ||
			    !is_heap(walk, heap, mapping->range.end))
				continue;
			return mu_why(walk->why, MU_ERR_HEAP_INCONSISTENT,
			    "heap %p: no arena of the ring leads to it",
			    (void *)heap);
		}
	}
	return MU_OK;
}

static bool
look_for_key(void *ctx, const struct mu_block *block)
{
	struct marked *marked = ctx;

	if (mu_range_size(block->range) >= 2 * KEY &&
	    mu_glibc_word(block->view, KEY) == marked->key)
		marked->found = block->range.begin;
	return marked->found == 0;
}

static const char *
broken_rule(const struct mu_glibc_walk *walk, struct marked *marked)
{
	if (walk->keys_differ)
		return "entries of tcaches differ in their keys";
	if (walk->heap->unproven_bytes > 0)
		return "memory that other code took by sbrk()";
	if (!walk->glibc.layout->tcache_key || marked->key == 0)
		return NULL;
	mu_blocks_each(&walk->heap->blocks, look_for_key, marked);
	return marked->found != 0 ? "has the key of a free block in a tcache"
				  : NULL;
}

/*
 * With an inferred layout the walk is strict as well: sums of memory and counts
 * of tcaches must be exact, and the tcaches of all threads must have been found
 * (main.c, tcache.c, tls.c).
 */
static enum mu_status
judge_inferred(struct mu_glibc_walk *walk, enum mu_status status)
{
	struct marked marked = { .key = walk->tcache_key };
	const char *rule;

	if (status == MU_OK) {
		rule = broken_rule(walk, &marked);
		if (rule == NULL)
			return MU_OK;
		mu_why(walk->why, MU_ERR_HEAP_INCONSISTENT, "block %p: %s",
		    (void *)marked.found, rule);
	}
	return mu_glibc_not_inferred(
	    &walk->glibc, walk->snap, status, walk->why);
}

/*
 * Walk every chunk of every arena; the main arena last, as it must be searched
 * for.
 */
static enum mu_status
take_stretches(struct mu_glibc_walk *walk)
{
	enum mu_status status;
	size_t i;

	walk->num_free = mu_arena_alloc(
	    walk->memory, walk->glibc.num_arenas, sizeof(*walk->num_free));
	if (walk->num_free == NULL)
		return mu_glibc_no_memory(walk);
	status = mu_glibc_heaps_take(walk);
	if (status == MU_OK)
		status = mu_glibc_main_take(walk);
	mu_blocks_sort_spans(&walk->heap->blocks);
	mu_glibc_notes_seal(&walk->notes);
	mu_ranges_seal(&walk->stretches);
	mu_ranges_seal(&walk->unproven);
	for (i = 0; i < walk->unproven.count; i++)
		walk->heap->unproven_bytes +=
		    mu_range_size(walk->unproven.items[i]);
	return status == MU_OK ? check_strays(walk) : status;
}

/*
 * Record memory that is neither block nor root: whole stretches, and the
 * structs with the heads of free lists.
 */
static enum mu_status
set_owned(struct mu_glibc_walk *walk)
{
	const struct mu_glibc *glibc = &walk->glibc;
	size_t arena_size = glibc->layout->arena_size;
	struct mu_ranges *owned = &walk->heap->owned;

	if (!mu_ranges_add_all(
		owned, walk->stretches.items, walk->stretches.count) ||
	    !mu_ranges_add(owned,
		(struct mu_range) {
		    glibc->main_arena, glibc->main_arena + arena_size }) ||
	    !mu_ranges_add(owned,
		(struct mu_range) {
		    glibc->mp, glibc->mp + glibc->layout->par_size }))
		return mu_glibc_no_memory(walk);
	mu_ranges_seal(owned);
	return MU_OK;
}

/*
 * Record the addresses that end a free list, where a chunk's fd or bk can
 * point.
 */
static enum mu_status
set_bins(struct mu_glibc_walk *walk)
{
	struct mu_glibc *glibc = walk->member->state;
	struct mu_range *bins =
	    mu_arena_alloc(walk->memory, glibc->num_arenas, sizeof(*bins));
	uintptr_t first;
	size_t i;

	if (bins == NULL)
		return mu_glibc_no_memory(walk);
	for (i = 0; i < glibc->num_arenas; i++) {
		first = glibc->arenas[i] + glibc->layout->arena_bins -
		    MU_GLIBC_HEADER;
		bins[i] =
		    (struct mu_range) { first, first + MU_GLIBC_BINS * 16 };
	}
	glibc->bins = bins;
	glibc->num_bins = glibc->num_arenas;
	return MU_OK;
}

static enum mu_status
seal(struct mu_glibc_walk *walk)
{
	size_t rejected = 0;
	enum mu_status status = mu_blocks_seal(&walk->heap->blocks, &rejected);

	if (status != MU_OK || rejected > 0)
		return mu_why(walk->why, MU_ERR_HEAP_INCONSISTENT,
		    "heap stretches overlap (%zu mmapped chunks too)",
		    rejected);
	return MU_OK;
}

/* Decide whether the answer is partial or refused, the worst cause first. */
static enum mu_status
conclude(const struct mu_glibc_walk *walk, enum mu_status mmapped)
{
	struct mu_why why = *walk->why;
	enum mu_status status = mu_glibc_foreign_check(
	    walk->snap, walk->member, &walk->heap->blocks, walk->why);

	if (status != MU_OK)
		return status;
	if (walk->glibc.other_libc != 0)
		return mu_why(walk->why, MU_PARTIAL,
		    "libc is loaded once more at %p (dlmopen), and its malloc "
		    "has a separate heap, which was not checked",
		    (void *)walk->glibc.other_libc);
	if (walk->heap->unproven_bytes > 0)
		return mu_why(walk->why, MU_PARTIAL,
		    "behind memory that other code took by sbrk, %zu bytes "
		    "may be blocks or look like them: they were not checked",
		    walk->heap->unproven_bytes);
	*walk->why = why;
	return mmapped;
}

/* Memory for notes. They are freed before tables take most of the rest. */
static size_t
room_for_notes(const struct mu_arena *memory)
{
	return memory->limit > memory->used ? (memory->limit - memory->used) / 2
					    : 0;
}

/*
 * Read everything, in this order. *MMAPPED receives MU_PARTIAL if mmapped
 * chunks are uncertain.
 */
static enum mu_status
take_all(struct mu_glibc_walk *walk, enum mu_status *mmapped)
{
	enum mu_status status;

	mu_glibc_notes_open(&walk->notes, room_for_notes(walk->memory));
	status = take_stretches(walk);
	if (status == MU_OK)
		status = mu_glibc_usage_open(walk);
	if (status == MU_OK)
		status = mu_glibc_lists_take(walk);
	mu_glibc_notes_close(&walk->notes);
	if (status != MU_OK)
		return status;
	mu_glibc_usage_fastbins(walk);
	*mmapped = mu_glibc_mmapped_find(walk);
	if (*mmapped != MU_OK && *mmapped != MU_PARTIAL)
		return *mmapped;
	status = mu_glibc_tcaches_take(walk);
	mu_glibc_usage_tcaches(walk);
	return status;
}

static enum mu_status
read_heap(struct mu_glibc_walk *walk)
{
	enum mu_status status, mmapped = MU_OK;

	if (walk->glibc.main_arena == 0) {
		status = seal(walk);
		return status == MU_OK ? conclude(walk, MU_OK) : status;
	}
	status = take_all(walk, &mmapped);
	if (status == MU_OK)
		status = mu_glibc_mmapped_list(walk, &walk->heap->owned);
	if (status == MU_OK)
		status = set_owned(walk);
	if (status == MU_OK)
		status = set_bins(walk);
	if (status == MU_OK)
		status = seal(walk);
	if (status == MU_OK)
		mu_glibc_usage_close(walk);
	return status == MU_OK ? conclude(walk, mmapped) : status;
}

/*
 * A thread that holds an arena's lock may have a whole list of free chunks only
 * in its registers (malloc_consolidate() removes a fastbin's list at once). All
 * but the first would look like leaks.
 */
static enum mu_status
find_locked(const struct mu_glibc_walk *walk, struct mu_why *why)
{
	const struct mu_glibc *glibc = &walk->glibc;
	const int *mutex;
	size_t i;

	for (i = 0; i < glibc->num_arenas; i++) {
		mutex = mu_snapshot_view(
		    walk->snap, glibc->arenas[i], sizeof(*mutex));
		if (mutex != NULL && *mutex != 0)
			return mu_why(why, MU_ERR_HEAP_INCONSISTENT,
			    "a thread was inside malloc: arena %p is locked",
			    (void *)glibc->arenas[i]);
	}
	return MU_OK;
}

/* Read a heap that was not frozen. */
static enum mu_status
read_unfrozen(struct mu_glibc_walk *walk)
{
	enum mu_status status, locked;
	struct mu_why why;

	locked = find_locked(walk, &why);
	if (locked != MU_OK && !walk->snap->only_moment) {
		*walk->why = why;
		return locked;
	}
	status = read_heap(walk);
	if (status != MU_OK || locked == MU_OK)
		return status;
	return mu_why(walk->why, MU_PARTIAL,
	    "%s; free blocks that it was handling may be among these",
	    why.text);
}

static bool
releases(size_t row, struct mu_heap_releases *releases)
{
	size_t count;
	const struct mu_glibc_layout *layouts = mu_glibc_layouts(&count);

	if (row >= count)
		return false;
	releases->first = layouts[row].first;
	releases->last = layouts[row].last;
	return true;
}

static enum mu_status
detect(struct mu_heap_member *member, const struct mu_snapshot *snap,
    struct mu_arena *arena, struct mu_why *why)
{
	struct mu_glibc *glibc = mu_arena_alloc(arena, 1, sizeof(*glibc));
	enum mu_status status;

	if (glibc == NULL)
		return mu_why(
		    why, MU_ERR_NO_MEMORY, "no memory for the list of arenas");
	status = mu_glibc_find(glibc, member, snap, arena, why);
	member->state = glibc;
	member->inferred_from = glibc->inferred_from;
	return status;
}

static enum mu_status
list(struct mu_heap *heap, const struct mu_heap_member *member,
    const struct mu_snapshot *snap, struct mu_arena *arena, struct mu_why *why)
{
	struct mu_glibc *glibc = member->state;
	struct mu_glibc_walk walk = {
		.snap = snap,
		.memory = arena,
		.why = why,
		.heap = heap,
		.member = member,
		.glibc = *glibc,
	};
	enum mu_status status;

	mu_ranges_open(&walk.stretches, arena);
	mu_ranges_open(&walk.unproven, arena);
	heap->locks = glibc->arenas; /* an arena begins with its mutex */
	heap->num_locks = glibc->num_arenas;
	status = snap->unfrozen ? read_unfrozen(&walk) : read_heap(&walk);
	return glibc->inferred_from == 0 ? status
					 : judge_inferred(&walk, status);
}

const struct mu_heap_ops mu_heap_glibc = {
	.name = "glibc",
	.releases = releases,
	.other_file = mu_glibc_foreign_file,
	.detect = detect,
	.freeze = mu_glibc_freeze,
	.thaw = mu_glibc_thaw,
	.list = list,
	.link = mu_glibc_old_link,
	.refers_by_header = mu_glibc_refers_by_header,
	.inside = mu_in_malloc_find,
	.calls = mu_call_of_malloc,
};
