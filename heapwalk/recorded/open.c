/* Find and check the tables of a recorder: see heapwalk/recorded/recorded.h. */
#include <string.h>

#include "heapwalk/recorded/recorded.h"
#include "heapwalk/subject/classify.h"
#include "heapwalk/subject/variables.h"
#include "mu/recorded.h"

#define SPAN_SIZE ((size_t)MU_SHADOW_WORDS * sizeof(uint32_t))
#define DEPOT_BLOCK_SIZE ((size_t)MU_DEPOT_UNIT << MU_DEPOT_BLOCK_SHIFT)

struct opening {
	struct mu_recorder *recorder;
	const struct mu_snapshot *snap;
	struct mu_arena *arena;
	size_t left; /* bytes of anonymous memory not yet assigned to tables */
	size_t max_spans, max_tables;
};

static bool
is_recorded(const char *view)
{
	struct mu_recorded header;

	memcpy(&header, view, sizeof(header));
	return mu_recorded_is(&header);
}

uintptr_t
mu_recorded_find(const struct mu_snapshot *snap)
{
	static const struct mu_variable variable = {
		.library = "libmemunreachable-malloc-debug",
		.magic = MU_RECORDED_MAGIC,
		.size = sizeof(struct mu_recorded),
		.is = is_recorded,
	};

	return mu_variable_find(snap, &variable);
}

/* Tables do not overlap, so together they fit into what is mapped. */
static size_t
anonymous_bytes(const struct mu_snapshot *snap)
{
	size_t i, bytes = 0;

	for (i = 0; i < snap->num_mappings; i++)
		if (mu_mapping_is_anonymous(&snap->mappings[i]))
			bytes += mu_range_size(snap->mappings[i].range);
	return bytes;
}

static bool
leave_out(struct opening *opening, struct mu_range range)
{
	struct mu_recorder *recorder = opening->recorder;

	if (!mu_arena_room(opening->arena, recorder->tables,
		recorder->num_tables, opening->max_tables, 64))
		return false;
	recorder->tables[recorder->num_tables++] = range;
	return true;
}

/* The recorder's tables are in memory that it mapped, which is anonymous. */
static bool
add_table(struct opening *opening, struct mu_range range)
{
	return !mu_mappings_are_anonymous(opening->snap->mappings,
		   opening->snap->num_mappings, range) ||
	    leave_out(opening, range);
}

/* View SIZE bytes of a table at ADDRESS; NULL if that is impossible. */
static const char *
view_table(struct opening *opening, uint64_t address, size_t size)
{
	const char *view = NULL;

	if (address % sizeof(uint64_t) != 0 || size > opening->left)
		return NULL;
	opening->left -= size;
	view = mu_snapshot_view(opening->snap, address, size);
	if (view == NULL ||
	    !add_table(opening, (struct mu_range) { address, address + size }))
		return NULL;
	return view;
}

static bool
add_span(struct opening *opening, uint64_t index, uint64_t address)
{
	struct mu_recorder *recorder = opening->recorder;
	const char *view = view_table(opening, address, SPAN_SIZE);

	if (view == NULL)
		return true;
	if (!mu_arena_room(opening->arena, recorder->spans, recorder->num_spans,
		opening->max_spans, 64))
		return false;
	recorder->spans[recorder->num_spans++] =
	    (struct mu_recorded_span) { index, view };
	return true;
}

/* Add the spans in PART of the directory, which has data. */
static bool
add_spans(struct opening *opening, struct mu_range part)
{
	uintptr_t directory = opening->recorder->header.directory;
	const char *view =
	    mu_snapshot_view(opening->snap, part.begin, mu_range_size(part));
	size_t at;
	uint64_t word;

	for (at = 0; view != NULL && at + sizeof(word) <= mu_range_size(part);
	     at += sizeof(word)) {
		memcpy(&word, view + at, sizeof(word));
		if (word != 0 &&
		    !add_span(opening,
			(part.begin + at - directory) / sizeof(word), word))
			return false;
	}
	return true;
}

/*
 * Look only where there were blocks; the rest of the 64 MiB was never written.
 * populated() gives whole pages, or starts where we do.
 */
static bool
open_spans(struct opening *opening)
{
	const struct mu_recorded *header = &opening->recorder->header;
	struct mu_memory *memory = (struct mu_memory *)&opening->snap->memory;
	uint64_t first = header->lowest >> MU_SHADOW_SPAN_SHIFT;
	uint64_t last = header->highest >> MU_SHADOW_SPAN_SHIFT;
	struct mu_range rest, part;

	if (last >= MU_SHADOW_SPANS)
		last = MU_SHADOW_SPANS - 1;
	if (first > last)
		return true;
	rest.begin = header->directory + first * sizeof(uint64_t);
	rest.end = header->directory + (last + 1) * sizeof(uint64_t);
	for (; mu_range_size(rest) > 0 &&
	     memory->ops->populated(memory, rest, &part);
	     rest.begin = part.end)
		if (!add_spans(opening, part))
			return false;
	return true;
}

static bool
open_depot(struct opening *opening)
{
	struct mu_recorder *recorder = opening->recorder;
	const char *view;
	uint64_t word;
	size_t i;

	if (recorder->header.depot == 0)
		return true;
	view = view_table(
	    opening, recorder->header.depot, MU_DEPOT_BLOCKS * sizeof(word));
	if (view == NULL)
		return true;
	recorder->depot = mu_arena_alloc(
	    opening->arena, MU_DEPOT_BLOCKS, sizeof(*recorder->depot));
	if (recorder->depot == NULL)
		return false;
	for (i = 0; i < MU_DEPOT_BLOCKS; i++) {
		memcpy(&word, view + i * sizeof(word), sizeof(word));
		if (word != 0)
			recorder->depot[i] =
			    view_table(opening, word, DEPOT_BLOCK_SIZE);
		recorder->num_depot += recorder->depot[i] != NULL;
	}
	return true;
}

static bool
read_header(struct mu_recorded *header, const struct mu_snapshot *snap,
    uintptr_t address)
{
	const void *view = mu_snapshot_view(snap, address, sizeof(*header));
	const size_t size = MU_SHADOW_SPANS * sizeof(uint64_t);

	if (view == NULL)
		return false;
	memcpy(header, view, sizeof(*header));
	return mu_recorded_is(header) && header->directory != 0 &&
	    header->directory % sizeof(uint64_t) == 0 &&
	    header->directory <= UINTPTR_MAX - size;
}

bool
mu_recorder_open(struct mu_recorder *recorder, const struct mu_snapshot *snap,
    uintptr_t address, struct mu_arena *arena)
{
	struct opening opening = {
		.recorder = recorder,
		.snap = snap,
		.arena = arena,
	};
	struct mu_range directory,
	    own = { address, address + sizeof(recorder->header) };

	*recorder = (struct mu_recorder) { .num_spans = 0 };
	if (!read_header(&recorder->header, snap, address))
		return false;
	opening.left = anonymous_bytes(snap);
	directory.begin = recorder->header.directory;
	directory.end = directory.begin + MU_SHADOW_SPANS * sizeof(uint64_t);
	mu_recorder_modules(recorder, snap, arena);
	/* Its bounds of all addresses may lie in a block of many megabytes. */
	return leave_out(&opening, own) && add_table(&opening, directory) &&
	    open_spans(&opening) && open_depot(&opening);
}

bool
mu_recorder_open_names(struct mu_recorder *recorder,
    const struct mu_snapshot *snap, uintptr_t address, bool scripts,
    struct mu_arena *arena)
{
	struct opening opening = {
		.recorder = recorder,
		.snap = snap,
		.arena = arena,
	};

	*recorder = (struct mu_recorder) { .num_spans = 0 };
	if (!read_header(&recorder->header, snap, address))
		return false;
	opening.left = anonymous_bytes(snap);
	mu_recorder_modules(recorder, snap, arena);
	return !scripts || open_depot(&opening);
}
