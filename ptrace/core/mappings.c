#include "ptrace/core/mappings.h"

#include <elf.h>
#include <string.h>

/*
 * The list of segments and the list of mapped files, walked together by
 * address.
 */
struct merging {
	struct mu_snapshot *snap;
	struct mu_core_part *parts;
	size_t max;
	struct mu_arena *arena;
	const struct mu_core_segment *segment, *segments_end;
	const struct mu_core_mapped *file, *files_end;
};

static bool
has_prefix(const char *name, const char *prefix)
{
	return strncmp(name, prefix, strlen(prefix)) == 0;
}

/* Shared memory without a file on disk. "/anon_hugepage" is mostly private. */
static bool
is_shared_memory(const char *name)
{
	static const char *const memory[] = { "/dev/zero", "/memfd:", "/SYSV",
		"/dev/shm/", "/secretmem", "/[aio]", "anon_inode:[io_uring]" };
	size_t i;

	for (i = 0; i < sizeof(memory) / sizeof(*memory); i++)
		if (has_prefix(name, memory[i]))
			return true;
	return false;
}

/* Make room for one more mapping and its part. */
static bool
reserve(struct merging *merging)
{
	struct mu_snapshot *snap = merging->snap;
	size_t max = merging->max * 2 + 256;

	if (snap->num_mappings < merging->max)
		return true;
	if (!mu_arena_extend(
		merging->arena, snap->mappings, merging->max, max) ||
	    !mu_arena_extend(merging->arena, merging->parts, merging->max, max))
		return false;
	merging->max = max;
	return true;
}

static void
set_file(struct mu_mapping *mapping, const struct mu_core_mapped *file)
{
	mapping->name = "";
	if (file == NULL)
		return;
	mapping->name = file->name;
	mapping->inode = file->file;
	mapping->offset =
	    file->offset + (mapping->range.begin - file->range.begin);
	mapping->shared = is_shared_memory(file->name);
}

/* Set the source of a mapping of which the core has no bytes. */
static void
set_undumped(struct mu_mapping *mapping, struct mu_core_part *part)
{
	part->source = MU_CORE_NOT_NEEDED;
	if (!mapping->readable)
		return;
	if (mapping->inode == 0) {
		part->source = MU_CORE_ZEROS;
	} else if (is_shared_memory(mapping->name) ||
	    has_prefix(mapping->name, "/anon_hugepage")) {
		part->source = MU_CORE_MISSING;
		part->missing = "left out by coredump_filter";
	} else if (mapping->writable) {
		mapping->shared = true;
	}
}

static bool
add(struct merging *merging, struct mu_range range, enum mu_core_source source)
{
	const struct mu_core_segment *segment = merging->segment;
	const struct mu_core_mapped *file = merging->file;
	struct mu_snapshot *snap = merging->snap;
	struct mu_core_part *part;
	struct mu_mapping *mapping;

	if (mu_range_size(range) == 0)
		return true;
	if (!reserve(merging))
		return false;
	part = &merging->parts[snap->num_mappings];
	mapping = &snap->mappings[snap->num_mappings++];
	*part = (struct mu_core_part) { .source = source,
		.has_segment = segment != NULL };
	*mapping = (struct mu_mapping) { .range = range, .readable = true };
	if (segment != NULL) {
		mapping->readable = (segment->flags & PF_R) != 0;
		mapping->writable = (segment->flags & PF_W) != 0;
		mapping->executable = (segment->flags & PF_X) != 0;
		part->offset =
		    segment->offset + (range.begin - segment->range.begin);
	}
	set_file(mapping, file);
	if (source == MU_CORE_MISSING)
		part->missing = "cut off";
	else if (source == MU_CORE_NOT_NEEDED)
		set_undumped(mapping, part);
	return true;
}

static struct mu_range
cut(struct mu_range range, uintptr_t begin, uintptr_t end)
{
	struct mu_range inside = { begin > range.begin ? begin : range.begin,
		end < range.end ? end : range.end };

	if (inside.end < inside.begin)
		inside.end = inside.begin;
	return inside;
}

/* Add RANGE, which lies in at most one segment and at most one file. */
static bool
add_cell(struct merging *merging, struct mu_range range)
{
	const struct mu_core_segment *segment = merging->segment;
	uintptr_t dumped, stored;

	if (segment == NULL)
		return add(merging, range, MU_CORE_NOT_NEEDED);
	dumped = segment->range.begin + segment->dumped;
	stored = dumped + segment->cut;
	stored += -stored & 4095; /* CUT may end in the middle of a page */
	return add(merging, cut(range, 0, dumped), MU_CORE_DUMPED) &&
	    add(merging, cut(range, dumped, stored), MU_CORE_MISSING) &&
	    add(merging, cut(range, stored, UINTPTR_MAX), MU_CORE_NOT_NEEDED);
}

/*
 * Narrow CELL to the first part at or after AT that lies wholly inside or
 * wholly outside ONE.
 */
static void
meet(struct mu_range one, uintptr_t at, struct mu_range *cell)
{
	uintptr_t begin = one.begin > at ? one.begin : at;

	if (begin < cell->begin) {
		if (cell->begin < one.end)
			cell->end = cell->begin;
		else
			cell->end = one.end;
		cell->begin = begin;
	} else if (begin == cell->begin) {
		if (one.end < cell->end)
			cell->end = one.end;
	} else if (begin < cell->end) {
		cell->end = begin;
	}
}

/* Returns false if memory is exhausted. */
static bool
merge(struct merging *merging, const struct mu_core_file *core,
    const struct mu_core_process *process)
{
	const struct mu_core_segment *segment = core->segments;
	const struct mu_core_mapped *file = process->files;
	uintptr_t at = 0;
	struct mu_range cell;

	for (;; at = cell.end) {
		while (
		    segment < merging->segments_end && segment->range.end <= at)
			segment++;
		while (file < merging->files_end && file->range.end <= at)
			file++;
		cell = (struct mu_range) { UINTPTR_MAX, UINTPTR_MAX };
		if (segment < merging->segments_end)
			meet(segment->range, at, &cell);
		if (file < merging->files_end)
			meet(file->range, at, &cell);
		if (cell.begin == UINTPTR_MAX)
			return true;
		merging->segment = segment < merging->segments_end &&
			mu_range_has(segment->range, cell.begin)
		    ? segment
		    : NULL;
		merging->file = file < merging->files_end &&
			mu_range_has(file->range, cell.begin)
		    ? file
		    : NULL;
		if (!add_cell(merging, cell))
			return false;
	}
}

enum mu_status
mu_core_mappings_make(struct mu_snapshot *snap, struct mu_core_part **parts,
    const struct mu_core_file *core, const struct mu_core_process *process,
    struct mu_arena *arena, struct mu_why *why)
{
	struct merging merging = { .snap = snap, .arena = arena };

	merging.segments_end =
	    core->segments == NULL ? NULL : core->segments + core->num_segments;
	merging.files_end =
	    process->files == NULL ? NULL : process->files + process->num_files;
	snap->mappings = NULL;
	snap->num_mappings = 0;
	if (!merge(&merging, core, process))
		return mu_why(why, MU_ERR_NO_MEMORY,
		    "no memory for %zu mappings", snap->num_mappings);
	if (snap->num_mappings == 0)
		return mu_why(why, MU_ERR_ARGUMENT,
		    "the core has no memory of the program");
	*parts = merging.parts;
	return MU_OK;
}
