/*
 * The edges of large blocks: read in parts that workers share.
 *
 * Runs in: sweeper (any). Uses no malloc, no errno, no libc lock.
 */
#include "heapwalk/graph_large.h"

#include "heapwalk/references.h"
#include "heapwalk/workers.h"

#define WORD sizeof(uintptr_t)

#define PART MU_GRAPH_LARGE /* bytes read at once */
#define ASK_FROM (1u << 20) /* bytes from which on populated() is asked */

/* Of a large block. */
struct part {
	uint32_t node;
	struct mu_range range;
	size_t first, tail; /* of its edges: mu_edges_store_part() */
};

struct reading {
	struct mu_graph *graph;
	struct mu_edges_room *room;
	struct mu_memory *memory;
	struct mu_arena arena; /* of the parts */
	uint64_t deadline_ns;
	bool late;
	struct part *parts;
	size_t num_parts, max_parts;
	size_t next; /* part that nobody has taken */
};

/* One worker. */
static void
read_parts(void *ctx, unsigned worker)
{
	struct reading *reading = ctx;
	struct mu_deadline deadline = { .ns = reading->deadline_ns };
	struct mu_edges_store store;
	struct mu_block block;
	struct part *part;
	size_t i;

	(void)worker;
	mu_edges_store_open(&store, reading->graph, reading->room);
	while (!__atomic_load_n(&reading->room->full, __ATOMIC_RELAXED) &&
	    !mu_deadline_passed(&deadline, PART / WORD)) {
		i = __atomic_fetch_add(&reading->next, 1, __ATOMIC_RELAXED);
		if (i >= reading->num_parts)
			return;
		part = &reading->parts[i];
		if (!mu_graph_block(reading->graph, part->node, &block))
			continue;
		mu_edges_store_words(&store, part->node, part->range,
		    block.range.end,
		    block.view + (part->range.begin - block.range.begin));
		mu_edges_store_part(&store, &part->first, &part->tail);
	}
	if (deadline.passed)
		__atomic_store_n(&reading->late, true, __ATOMIC_RELAXED);
}

static bool
add_part(struct reading *reading, uint32_t node, struct mu_range range)
{
	size_t max = reading->max_parts > 0 ? 2 * reading->max_parts : 64;
	struct part *parts;

	if (reading->num_parts == reading->max_parts) {
		parts = mu_arena_grow(&reading->arena, reading->parts,
		    reading->max_parts, max, sizeof(*parts));
		if (parts == NULL)
			return false;
		reading->parts = parts;
		reading->max_parts = max;
	}
	reading->parts[reading->num_parts++] =
	    (struct part) { .node = node, .range = range };
	return true;
}

/* The next of RANGE that was ever written; false at its end. */
static bool
next_written(
    struct mu_memory *memory, struct mu_range range, struct mu_range *part)
{
	*part = range;
	if (memory == NULL || mu_range_size(range) < ASK_FROM)
		return mu_range_size(range) > 0;
	if (!memory->ops->populated(memory, range, part))
		return false;
	if (part->begin < range.begin || part->end > range.end ||
	    part->begin >= part->end)
		*part = range;
	return true;
}

/* Parts of NODE. */
static bool
split(struct reading *reading, uint32_t node)
{
	const struct mu_blocks *blocks = reading->graph->blocks;
	struct mu_range rest, written, part;
	struct mu_block block;
	size_t back, size;

	if (!mu_graph_block(reading->graph, node, &block))
		return true;
	back = WORD -
	    mu_reference_step(
		blocks, mu_reference_in_code(blocks, block.range));
	for (rest = block.range; next_written(reading->memory, rest, &written);
	     rest.begin = written.end) {
		/* A word can begin before what was written. */
		part.begin = written.begin - block.range.begin < back
		    ? block.range.begin
		    : written.begin - back;
		for (; part.begin < written.end; part.begin = part.end) {
			size = written.end - part.begin;
			part.end = part.begin + (size < PART ? size : PART);
			if (!add_part(reading, node, part))
				return false;
		}
	}
	return true;
}

static void
link_parts(struct reading *reading)
{
	uint32_t *cells = reading->room->cells;
	struct part *part;
	size_t i, place = 0;

	for (i = 0; i < reading->num_parts; i++) {
		part = &reading->parts[i];
		if (i == 0 || part[-1].node != part->node) {
			place = mu_edges_first(reading->graph, part->node);
			cells[place++] = MU_EDGES_JUMP;
		}
		if (part->first == 0)
			continue;
		cells[place] = (uint32_t)part->first;
		place = part->tail;
	}
}

static bool
split_all(struct reading *reading)
{
	const struct mu_graph *graph = reading->graph;
	uint32_t node;

	for (node = 0; node < graph->num_nodes; node++) {
		if (graph->sizes[node] > MU_GRAPH_LARGE &&
		    !split(reading, node))
			return false;
	}
	return true;
}

bool
mu_graph_large(struct mu_graph *graph, struct mu_edges_room *room,
    struct mu_memory *memory, size_t limit, struct mu_deadline *deadline)
{
	struct reading reading = { .graph = graph,
		.room = room,
		.memory = memory,
		.deadline_ns = deadline->ns };
	bool complete = false;

	mu_arena_open(&reading.arena, limit);
	if (!deadline->passed && !room->full && split_all(&reading)) {
		mu_workers_run(graph->blocks->workers, MU_WORKERS_MAX,
		    read_parts, &reading);
		deadline->passed = reading.late;
		complete = !reading.late && !room->full;
	}
	if (complete)
		link_parts(&reading);
	mu_arena_close(&reading.arena);
	return complete;
}
