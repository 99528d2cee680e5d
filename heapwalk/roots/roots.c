/*
 * Every readable mapping of memory, private or shared, is searched page by
 * page, since RELRO and memory that a program protected after filling it are
 * read-only; populated() skips unmodified pages. Then ranges are removed by
 * bytes, as one mapping can hold a large block and the main thread's variables
 * side by side.
 */
#include "heapwalk/roots/roots.h"

#include <string.h>

#include "heapwalk/subject/classify.h"
#include "heapwalk/subject/ranges.h"
#include "heapwalk/subject/saved.h"
#include "mu/range.h"
#include "mu/sort.h"

/* Parts of one module are at most this many mappings apart. */
#define MODULE_REACH 8

struct finder {
	struct mu_roots *roots;
	const struct mu_snapshot *snap;
	struct mu_memory *memory;
	struct mu_arena *arena;
	struct mu_ranges own, excluded; /* excluded includes own */
	struct mu_root_kinds kinds;
	struct mu_tmpfs tmpfs;
	size_t max_ranges;
	size_t unread; /* bytes that could not be read */
};

static bool
is_wanted(const struct mu_reach *reach, enum mu_root_kind kind)
{
	switch (kind) {
	case MU_ROOT_GLOBALS:
		return !reach->no_globals;
	case MU_ROOT_STACK:
	case MU_ROOT_CALLER:
		return !reach->no_stacks;
	case MU_ROOT_TLS:
		return !reach->no_tls;
	case MU_ROOT_REGION:
		return !reach->no_regions;
	case MU_ROOT_ANONYMOUS:
		break;
	}
	return true;
}

static bool
add_root(struct finder *finder, struct mu_range range, enum mu_root_kind kind,
    bool code)
{
	struct mu_roots *roots = finder->roots;
	const char *view;

	if (!is_wanted(&finder->snap->reach, kind))
		return true;
	view =
	    mu_snapshot_view(finder->snap, range.begin, mu_range_size(range));
	if (view == NULL) {
		finder->unread += mu_range_size(range);
		return true;
	}
	if (!mu_arena_room(finder->arena, roots->ranges, roots->num_ranges,
		finder->max_ranges, 256))
		return false;
	roots->ranges[roots->num_ranges++] =
	    (struct mu_root) { range, view, kind, code, false };
	roots->bytes += mu_range_size(range);
	return true;
}

static bool
is_generated(const struct mu_mapping *mapping)
{
	return mapping->executable && mu_mapping_is_anonymous(mapping);
}

/*
 * Pages of generated code that are writable, and therefore not executable, at
 * this moment lie between or beside others. Large mappings have other uses.
 */
static bool
is_beside_code(const struct mu_snapshot *snap, const struct mu_mapping *mapping)
{
	const struct mu_mapping *end = snap->mappings + snap->num_mappings;
	size_t code = 0;

	if (!mu_mapping_is_anonymous(mapping))
		return false;
	if (mapping > snap->mappings && is_generated(mapping - 1) &&
	    mapping[-1].range.end == mapping->range.begin)
		code += mu_range_size(mapping[-1].range);
	if (mapping + 1 < end && is_generated(mapping + 1) &&
	    mapping[1].range.begin == mapping->range.end)
		code += mu_range_size(mapping[1].range);
	return mu_range_size(mapping->range) <= code;
}

/*
 * Code that a program generates holds addresses as operands. A stack is not
 * searched as code, even if it is executable: words on it are aligned.
 */
static bool
is_code(const struct mu_snapshot *snap, const struct mu_mapping *mapping,
    enum mu_root_kind kind)
{
	if (kind != MU_ROOT_ANONYMOUS && kind != MU_ROOT_GLOBALS)
		return false;
	return mapping->executable || is_beside_code(snap, mapping);
}

/* PIECE lies in one mapping. */
static bool
add_piece(struct finder *finder, const struct mu_mapping *mapping,
    struct mu_range piece)
{
	enum mu_root_kind kind;
	struct mu_range part;

	while (
	    mu_root_kinds_cut(&finder->kinds, mapping, &piece, &part, &kind)) {
		if (!add_root(finder, part, kind,
			is_code(finder->snap, mapping, kind)))
			return false;
	}
	return true;
}

/*
 * Split off the front of REST up to the end of the first part that can hold
 * words.
 */
static bool
next_populated(
    struct mu_memory *memory, struct mu_range *rest, struct mu_range *part)
{
	if (mu_range_size(*rest) == 0 ||
	    !memory->ops->populated(memory, *rest, part))
		return false;
	rest->begin = part->end;
	return true;
}

static bool
add_mapping(struct finder *finder, const struct mu_mapping *mapping)
{
	struct mu_memory *memory = finder->memory;
	struct mu_range rest = mapping->range, part, piece;

	while (mu_ranges_gap(&finder->excluded, &rest, &piece)) {
		while (next_populated(memory, &piece, &part)) {
			if (!add_piece(finder, mapping, part))
				return false;
		}
	}
	return true;
}

/* True if the file of MAPPING has a writable private part nearby. */
static bool
has_writable_part(const struct mu_snapshot *snap, size_t index)
{
	const struct mu_mapping *mapping = &snap->mappings[index], *other;
	size_t i, end = index + MODULE_REACH + 1;

	for (i = index > MODULE_REACH ? index - MODULE_REACH : 0;
	     i < end && i < snap->num_mappings; i++) {
		other = &snap->mappings[i];
		if (other->writable && !other->shared &&
		    other->inode == mapping->inode &&
		    other->dev_major == mapping->dev_major &&
		    other->dev_minor == mapping->dev_minor)
			return true;
	}
	return false;
}

static bool
is_candidate(struct finder *finder, size_t index)
{
	const struct mu_mapping *mapping = &finder->snap->mappings[index];

	if (!mu_mapping_is_memory(mapping))
		return false;
	if (mapping->shared)
		return mu_mapping_is_shared_memory(mapping, &finder->tmpfs);
	if (mapping->writable || !finder->memory->blind)
		return true;
	/*
	 * If written pages cannot be told apart, search RELRO but no other
	 * mapped files.
	 */
	return mapping->inode == 0 ||
	    (!mapping->executable && has_writable_part(finder->snap, index));
}

/*
 * Add the readable parts of a region that the program registered. If it lies in
 * the heap, its block is scanned as a root.
 */
static bool
add_region(struct finder *finder, struct mu_range region)
{
	struct mu_memory *memory = finder->memory;
	struct mu_range part, piece;

	while (mu_ranges_gap(&finder->own, &region, &piece)) {
		while (next_populated(memory, &piece, &part)) {
			if (!add_root(finder, part, MU_ROOT_REGION, false))
				return false;
		}
	}
	return true;
}

static enum mu_status
exclude(struct finder *finder, const struct mu_heap *heap)
{
	const struct mu_snapshot *snap = finder->snap;
	const struct mu_ranges *dead = &finder->kinds.stacks.dead;
	const struct mu_ranges *holes = &finder->kinds.stacks.holes;
	enum mu_status status;

	mu_ranges_open(&finder->own, finder->arena);
	mu_ranges_open(&finder->excluded, finder->arena);
	if (!mu_ranges_add_all(&finder->own, snap->own, snap->num_own) ||
	    !mu_ranges_add_all(&finder->excluded, snap->own, snap->num_own) ||
	    !mu_ranges_add_all(
		&finder->excluded, snap->tables, snap->num_tables) ||
	    !mu_ranges_add_all(
		&finder->excluded, heap->owned.items, heap->owned.count))
		return MU_ERR_NO_MEMORY;
	mu_ranges_seal(&finder->own);
	mu_ranges_seal(&finder->excluded);
	status = mu_root_kinds_find(
	    &finder->kinds, snap, &finder->excluded, finder->arena);
	if (status != MU_OK)
		return status;
	if (!mu_ranges_add_all(&finder->excluded, dead->items, dead->count) ||
	    !mu_ranges_add_all(&finder->excluded, holes->items, holes->count))
		return MU_ERR_NO_MEMORY;
	mu_ranges_seal(&finder->excluded);
	return MU_OK;
}

static bool
add_ranges(struct finder *finder)
{
	const struct mu_snapshot *snap = finder->snap;
	size_t i;

	for (i = 0; i < snap->num_mappings; i++) {
		if (is_candidate(finder, i) &&
		    !add_mapping(finder, &snap->mappings[i]))
			return false;
	}
	for (i = 0; i < snap->num_root_regions; i++) {
		if (!add_region(finder, snap->root_regions[i]))
			return false;
	}
	mu_sort(finder->roots->ranges, finder->roots->num_ranges,
	    sizeof(*finder->roots->ranges), mu_range_compare);
	return true;
}

static void
append(struct mu_roots *roots, const uintptr_t *words, size_t count)
{
	if (count == 0)
		return;
	memcpy(
	    roots->values + roots->num_values, words, count * sizeof(*words));
	roots->num_values += count;
}

/*
 * Add stack pointers, although registers are values too: a block that a thread
 * uses as its stack is then found by containment. Objects that the program
 * ignored count in any case.
 */
static bool
add_values(struct finder *finder)
{
	const struct mu_snapshot *snap = finder->snap;
	struct mu_roots *roots = finder->roots;
	size_t i;

	roots->values = mu_arena_alloc(finder->arena,
	    snap->num_values + snap->num_kernel_values + snap->num_root_values +
		snap->num_threads,
	    sizeof(*roots->values));
	if (roots->values == NULL)
		return false;
	if (!snap->reach.no_registers)
		append(roots, snap->values, snap->num_values);
	append(roots, snap->kernel_values, snap->num_kernel_values);
	append(roots, snap->root_values, snap->num_root_values);
	for (i = 0; i < snap->num_threads && !snap->reach.no_stacks; i++) {
		if (snap->threads[i].sp != 0)
			append(roots, &snap->threads[i].sp, 1);
	}
	return true;
}

static size_t
add_frames(
    const struct mu_snapshot *snap, struct mu_range frames, uintptr_t *words)
{
	uintptr_t at = frames.begin + (-frames.begin & (sizeof(at) - 1));
	size_t count = 0;

	for (; at < frames.end; at += sizeof(at))
		count += mu_snapshot_word(snap, at, &words[count]);
	return count;
}

/* Returns false if memory is exhausted. */
static bool
find_frames(struct finder *finder, const struct mu_heap *heap)
{
	const struct mu_heap_member *member = heap->blocks.heaps;
	const struct mu_heap_member *end = member + heap->blocks.num_heaps;
	struct mu_ranges *frames = &finder->roots->frames;

	mu_ranges_open(frames, finder->arena);
	for (; member < end; member++)
		if (member->ops->inside != NULL &&
		    !member->ops->inside(frames, heap, finder->snap))
			return false;
	mu_ranges_seal(frames);
	return true;
}

/* Add words by which only the allocator refers to blocks. */
static bool
add_headers(struct finder *finder, const struct mu_heap *heap)
{
	const struct mu_snapshot *snap = finder->snap;
	struct mu_roots *roots = finder->roots;
	const struct mu_thread *thread = snap->threads;
	const struct mu_thread *end = thread + snap->num_threads;
	struct mu_ranges *frames = &roots->frames;
	size_t i, words = 0;

	if (snap->no_headers)
		return true;
	if (!find_frames(finder, heap))
		return false;
	for (i = 0; i < frames->count; i++)
		words += mu_range_size(frames->items[i]) / sizeof(uintptr_t);
	roots->headers = mu_arena_alloc(
	    finder->arena, snap->num_values + words, sizeof(*roots->headers));
	if (roots->headers == NULL)
		return false;
	for (; thread < end && !snap->reach.no_registers; thread++) {
		if (thread->num_values == 0 ||
		    !mu_ranges_has(frames, thread->sp))
			continue;
		memcpy(roots->headers + roots->num_headers,
		    snap->values + thread->first_value,
		    thread->num_values * sizeof(uintptr_t));
		roots->num_headers += thread->num_values;
	}
	for (i = 0; i < frames->count && !snap->reach.no_stacks; i++)
		roots->num_headers += add_frames(snap, frames->items[i],
		    roots->headers + roots->num_headers);
	return true;
}

enum mu_status
mu_roots_find(struct mu_roots *roots, const struct mu_snapshot *snap,
    const struct mu_heap *heap, struct mu_arena *arena, struct mu_why *why)
{
	struct finder finder = {
		.roots = roots,
		.snap = snap,
		.memory = (struct mu_memory *)&snap->memory,
		.arena = arena,
		.tmpfs = { .pid = snap->pid },
	};
	enum mu_status status;

	if (snap->saved != NULL) {
		*roots = *snap->saved->roots;
		return MU_OK;
	}
	*roots = (struct mu_roots) { .ranges = NULL };
	status = exclude(&finder, heap);
	if (status == MU_OK &&
	    (!add_ranges(&finder) || !add_values(&finder) ||
		!add_headers(&finder, heap)))
		status = MU_ERR_NO_MEMORY;
	if (status != MU_OK)
		return mu_why(why, status,
		    "no memory for the roots: %zu ranges so far",
		    roots->num_ranges);
	if (finder.unread != 0)
		return mu_why(why, MU_PARTIAL,
		    "%zu bytes of memory could not be scanned", finder.unread);
	return MU_OK;
}
