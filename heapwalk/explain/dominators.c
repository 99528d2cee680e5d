#include "heapwalk/explain/dominators.h"

#include <string.h>

#include "heapwalk/heaps/spans.h"

#define BATCH 64

/* Sums of blocks that wait for the cache. */
struct adding {
	struct mu_dominators *out;
	struct mu_deadline *deadline;
	size_t count;
	uint32_t numbers[BATCH];
	size_t sizes[BATCH]; /* bytes */
};

static void
add_batch(struct adding *adding)
{
	struct mu_dominators *out = adding->out;
	size_t i;

	for (i = 0; i < adding->count; i++) {
		out->retained[adding->numbers[i]] = adding->sizes[i];
		out->blocks[adding->numbers[i]] = 1;
	}
	adding->count = 0;
}

static bool
add_block(void *ctx, const struct mu_block *block)
{
	struct adding *adding = ctx;
	uint32_t number = mu_dominators_number(adding->out, block->number);

	if (number == 0)
		return true;
	if (adding->count == BATCH)
		add_batch(adding);
	__builtin_prefetch(&adding->out->retained[number], 1);
	__builtin_prefetch(&adding->out->blocks[number], 1);
	adding->numbers[adding->count] = number;
	adding->sizes[adding->count++] = mu_range_size(block->range);
	return !mu_deadline_passed(adding->deadline, 4);
}

/* What found the tree is over: its memory holds the sums. */
static void
add_up(struct mu_dominators *out, const struct mu_graph *graph,
    struct mu_deadline *deadline)
{
	struct adding adding = { .out = out, .deadline = deadline };
	uint32_t number, above;

	memset(out->retained, 0, ((size_t)out->count + 1) * sizeof(size_t));
	memset(out->blocks, 0, ((size_t)out->count + 1) * sizeof(uint32_t));
	mu_blocks_each(graph->blocks, add_block, &adding);
	add_batch(&adding);
	for (number = out->count; number > MU_DOMINATORS_TOP; number--) {
		if (number > BATCH)
			__builtin_prefetch(
			    &out->retained[out->parents[number - BATCH]], 1);
		above = out->parents[number];
		out->retained[above] += out->retained[number];
		out->blocks[above] += out->blocks[number];
	}
}

static bool
open_tables(struct mu_dominators *out, struct mu_arena *arena)
{
	size_t all = mu_dominators_size(out);

	out->numbers = mu_arena_alloc_table(arena, all, sizeof(uint32_t));
	out->parents = mu_arena_alloc_table(arena, all, sizeof(uint32_t));
	out->blocks = mu_arena_alloc_table(arena, all, sizeof(uint32_t));
	out->retained = mu_arena_alloc_table(arena, all, sizeof(size_t));
	return out->numbers != NULL && out->parents != NULL &&
	    out->blocks != NULL && out->retained != NULL;
}

/* Restore the state of before the attempt. */
static void
start_over(struct mu_dominators *out)
{
	size_t all = mu_dominators_size(out);

	memset(out->numbers, 0, all * sizeof(*out->numbers));
	memset(out->parents, 0, all * sizeof(*out->parents));
	memset(out->blocks, 0, all * sizeof(*out->blocks));
	out->count = 0;
}

enum mu_status
mu_dominators_find(struct mu_dominators *dominators,
    const struct mu_graph *graph, const struct mu_holders *holders,
    struct mu_deadline *deadline)
{
	struct mu_arena_piece *pieces;
	enum mu_status status;
	bool gave_up;

	*dominators = (struct mu_dominators) { .num_holders = holders->count,
		.num_nodes = graph->num_nodes };
	if (graph->cells == NULL || graph->reads ||
	    !open_tables(dominators, graph->arena))
		return MU_ERR_NO_MEMORY;
	pieces = graph->arena->pieces;
	status =
	    mu_dominators_sweep(dominators, graph, holders, deadline, &gave_up);
	mu_arena_rewind(graph->arena, pieces);
	if (gave_up) {
		start_over(dominators);
		status = mu_dominators_semi_nca(
		    dominators, graph, holders, deadline);
		mu_arena_rewind(graph->arena, pieces);
	}
	if (status != MU_OK)
		return status;
	add_up(dominators, graph, deadline);
	return deadline->passed ? MU_ERR_TIMEOUT : MU_OK;
}
