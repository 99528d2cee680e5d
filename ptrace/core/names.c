/*
 * Find the heap, the stack and the kernel's mappings: see mappings.h.
 *
 * Runs in: the command.
 */
#include "ptrace/core/mappings.h"

#define BEHIND_MOST ((uintptr_t)1 << 30) /* arch_randomize_brk() on arm64 */
#define VVAR_MOST 4 /* [vvar], [vvar_vclock] and later ones */

static struct mu_mapping *
find(struct mu_snapshot *snap, uintptr_t address)
{
	return address == 0
	    ? NULL
	    : (struct mu_mapping *)mu_snapshot_mapping(snap, address);
}

static bool
is_free(const struct mu_mapping *mapping)
{
	return mapping->inode == 0 && mapping->name[0] == '\0';
}

/* The kernel maps its data right before its code; Linux 6.18 dumps both. */
static void
name_vdso(struct mu_snapshot *snap, struct mu_core_part *parts, uintptr_t vdso)
{
	struct mu_mapping *mapping = find(snap, vdso);
	size_t i, index;

	if (mapping == NULL || !is_free(mapping))
		return;
	mapping->name = "[vdso]";
	index = (size_t)(mapping - snap->mappings);
	for (i = 1; i <= VVAR_MOST && i <= index; i++) {
		mapping = &snap->mappings[index - i];
		if (mapping->range.end != mapping[1].range.begin ||
		    !is_free(mapping) || mapping->writable)
			break;
		mapping->name = "[vvar]";
		if (parts[index - i].source == MU_CORE_ZEROS)
			parts[index - i].source = MU_CORE_NOT_NEEDED;
	}
}

/* AT_RANDOM lies on the stack, above everything that the program put there. */
static void
name_stack(struct mu_snapshot *snap, uintptr_t random)
{
	struct mu_mapping *mapping = find(snap, random);
	size_t i;

	for (i = 0; mapping == NULL && i < snap->num_threads; i++)
		if (snap->threads[i].tid == snap->pid)
			mapping = find(snap, snap->threads[i].sp);
	if (mapping != NULL && is_free(mapping) && mapping->writable)
		mapping->name = "[stack]";
}

/* The last mapping of the program's own file, or NULL. */
static struct mu_mapping *
program_end(struct mu_snapshot *snap, uintptr_t headers)
{
	struct mu_mapping *mapping = find(snap, headers), *last = mapping;
	const struct mu_mapping *end = snap->mappings + snap->num_mappings;

	if (mapping == NULL || mapping->inode == 0)
		return NULL;
	for (; mapping < end; mapping++) {
		if (mapping->inode == last->inode)
			last = mapping;
		else if (mapping->inode != 0)
			break;
	}
	return last;
}

static bool
can_be_heap(const struct mu_mapping *mapping)
{
	return is_free(mapping) && mapping->readable && mapping->writable;
}

/*
 * After the program comes its .bss, adjacent, and then the heap, at a distance
 * or, without address randomisation, adjacent too. In the latter case .bss and
 * heap are one mapping, which the kernel calls [heap].
 */
static struct mu_mapping *
heap_behind(struct mu_snapshot *snap, struct mu_mapping *program)
{
	struct mu_mapping *mapping = program + 1, *touching = NULL;
	const struct mu_mapping *end = snap->mappings + snap->num_mappings;
	uintptr_t most = program->range.end + BEHIND_MOST;

	for (; mapping < end && mapping->range.begin <= most; mapping++) {
		if (mapping->inode != 0)
			break;
		if (!can_be_heap(mapping))
			continue;
		if (mapping->range.begin != mapping[-1].range.end)
			return mapping;
		touching = mapping;
	}
	return touching;
}

static bool
is_gap(const struct mu_mapping *one, const struct mu_mapping *next)
{
	return next->range.begin - one->range.end > BEHIND_MOST;
}

/* Find a heap that is below the program and far from everything else. */
static struct mu_mapping *
heap_apart(struct mu_snapshot *snap, const struct mu_mapping *program)
{
	struct mu_mapping *mapping = snap->mappings;

	for (; mapping < program; mapping++)
		if (can_be_heap(mapping) && is_gap(mapping, mapping + 1) &&
		    (mapping == snap->mappings || is_gap(mapping - 1, mapping)))
			return mapping;
	return NULL;
}

/*
 * mprotect() and madvise() can have split the heap, with holes in between.
 * Returns the number of pieces.
 */
static size_t
name_pieces(struct mu_snapshot *snap, struct mu_mapping *first, size_t *holes)
{
	const struct mu_mapping *end = snap->mappings + snap->num_mappings;
	struct mu_mapping *mapping = first;

	*holes = 0;
	for (; mapping < end && is_free(mapping); mapping++) {
		if (mapping > first &&
		    mapping[-1].range.end != mapping->range.begin) {
			if (is_gap(mapping - 1, mapping))
				break;
			++*holes;
		}
		mapping->name = "[heap]";
	}
	return (size_t)(mapping - first);
}

/* Insert COUNT holes between the NUM_PIECES mappings from INDEX on. */
static bool
add_holes(struct mu_snapshot *snap, struct mu_core_part **parts, size_t index,
    size_t num_pieces, size_t count, struct mu_arena *arena)
{
	size_t from = snap->num_mappings, to = from + count, end;
	struct mu_mapping *mappings;
	struct mu_core_part *part;

	if (!mu_arena_extend(arena, snap->mappings, from, to) ||
	    !mu_arena_extend(arena, *parts, from, to))
		return false;
	mappings = snap->mappings;
	part = *parts;
	snap->num_mappings = to;
	end = index + num_pieces;
	while (from-- > 0 && count > 0) {
		mappings[--to] = mappings[from];
		part[to] = part[from];
		if (from >= end || from == index ||
		    mappings[from - 1].range.end == mappings[from].range.begin)
			continue;
		mappings[--to] = (struct mu_mapping) {
			.range = { mappings[from - 1].range.end,
			    mappings[from].range.begin },
			.name = "[heap]",
		};
		part[to] = (struct mu_core_part) { .source = MU_CORE_HOLE };
		count--;
	}
	return true;
}

static bool
name_heap(struct mu_snapshot *snap, struct mu_core_part **parts,
    uintptr_t headers, struct mu_arena *arena)
{
	struct mu_mapping *program = program_end(snap, headers), *first;
	size_t pieces, holes;

	if (program == NULL)
		return true;
	first = heap_apart(snap, program);
	if (first == NULL)
		first = heap_behind(snap, program);
	if (first == NULL)
		return true;
	pieces = name_pieces(snap, first, &holes);
	return holes == 0 ||
	    add_holes(snap, parts, (size_t)(first - snap->mappings), pieces,
		holes, arena);
}

bool
mu_core_mappings_name(struct mu_snapshot *snap, struct mu_core_part **parts,
    const struct mu_core_process *process, struct mu_arena *arena)
{
	name_vdso(snap, *parts, process->vdso);
	name_stack(snap, process->random);
	return name_heap(snap, parts, process->headers, arena);
}
