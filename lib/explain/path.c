#include <stdlib.h>
#include <string.h>

#include "lib/explain/explaining.h"
#include "lib/explain/python_edges.h"

/* Steps that are described; of a longer path these are at both ends. */
#define ENDS ((size_t)12)

/* The blocks of a route, the last one first; parts belong to their block. */
struct chain {
	uint32_t first[ENDS], last[ENDS]; /* LAST is a ring */
	size_t count;
	uint32_t word; /* where it begins */
};

static void
add_block(struct chain *chain, uint32_t block)
{
	if (chain->count < ENDS)
		chain->first[chain->count] = block;
	chain->last[chain->count % ENDS] = block;
	chain->count++;
}

/* Returns false if NUMBER has no route. */
static bool
follow_back(const struct mu_routes *routes, uint32_t number,
    struct chain *chain, bool *doubtful)
{
	struct mu_route_step step = mu_routes_step(routes, number);
	uint32_t block = number;

	if (step.index == MU_NO_NODE)
		return false;
	*doubtful = step.doubtful;
	add_block(chain, block);
	while (!step.root) {
		if (mu_route_block(routes->graph, step.index) != block) {
			block = mu_route_block(routes->graph, step.index);
			add_block(chain, block);
		}
		step = mu_routes_step(routes, step.index);
	}
	chain->word = step.index;
	return true;
}

/* Block I from the root on, if it is described. */
static bool
block_at(const struct chain *chain, size_t i, uint32_t *block)
{
	size_t back = chain->count - 1 - i;

	if (back < ENDS)
		*block = chain->first[back];
	else if (i < ENDS)
		*block = chain->last[back % ENDS];
	else
		return false;
	return true;
}

/* Where the pointer lies in FROM that leads to block TO. */
static void
point(const struct mu_explaining *explaining, struct mu_step *step,
    uint32_t from, uint32_t to)
{
	struct mu_block block;
	struct mu_range links = { 0, 0 };

	if (mu_blocks_at(explaining->graph->blocks, from, &block))
		links = mu_python_links_of(explaining, &block);
	step->points = mu_route_word(
	    explaining->graph, from, to, links, &step->offset, &step->into);
}

/*
 * A block with thread-local variables of a library is where a path begins: what
 * leads to it are records of the dynamic linker.
 */
static void
begin_in_thread(struct mu_explaining *explaining, struct mu_path *path)
{
	struct mu_step *step = &path->steps[path->count - 1];
	size_t thread;

	if (!mu_owners_tls_block(
		&explaining->places.owners, step->address, &thread))
		return;
	mu_place_in_thread(&explaining->places, thread, step);
	path->steps[0] = *step;
	memset(&path->steps[1], 0, (path->count - 1) * sizeof(*step));
	path->count = 1;
}

static void
describe(struct mu_explaining *explaining, const struct chain *chain,
    struct mu_path *path)
{
	uint32_t block, next;
	size_t i, left_out;

	mu_place_of_word(&explaining->places,
	    &explaining->held.words[chain->word], &path->steps[path->count++]);
	for (i = 0; i < chain->count; i++) {
		if (!block_at(chain, i, &block)) {
			left_out = chain->count - 2 * ENDS;
			path->steps[path->count++] =
			    (struct mu_step) { .kind = MU_STEP_MORE,
				    .count = left_out };
			i += left_out - 1;
			continue;
		}
		mu_place_of_block(
		    &explaining->places, block, &path->steps[path->count]);
		if (i + 1 < chain->count && block_at(chain, i + 1, &next))
			point(
			    explaining, &path->steps[path->count], block, next);
		path->count++;
		if (i + 1 < chain->count)
			begin_in_thread(explaining, path);
	}
}

bool
mu_path_find(struct mu_explaining *explaining, const struct mu_routes *routes,
    uint32_t number, struct mu_path *path)
{
	struct chain chain = { .count = 0 };
	size_t most;

	*path = (struct mu_path) { .count = 0 };
	if (!follow_back(routes, number, &chain, &path->doubtful))
		return true;
	most = chain.count < 2 * ENDS ? chain.count : 2 * ENDS + 1;
	path->steps = mu_arena_alloc(
	    &explaining->out->arena, most + 2, sizeof(*path->steps));
	if (path->steps == NULL)
		return false;
	describe(explaining, &chain, path);
	return true;
}
