#include <fnmatch.h>
#include <string.h>

#include "heapwalk/refer/referrers.h"
#include "lib/explain/explaining.h"
#include "lib/explain/python_edges.h"

/* True if ITEM refers to the links of the object in BLOCK. */
static bool
is_link(const struct mu_explaining *explaining, const struct mu_block *block,
    const struct mu_referrer *item)
{
	return item->into >= 0 &&
	    mu_range_has(mu_python_links_of(explaining, block),
		block->range.begin + (uintptr_t)item->into);
}

/* The places of all references to the block. */
static enum mu_status
list_referrers(struct mu_explaining *explaining, uintptr_t address,
    struct mu_why_held *out)
{
	const struct mu_range ours = { 0, 0 };
	struct mu_referrers found;
	struct mu_block block;
	struct mu_why why;
	size_t i;
	enum mu_status status = mu_referrers_find(&found, address,
	    explaining->graph, explaining->roots, explaining->snap, ours,
	    explaining->tables, explaining->deadline.ns, &why);

	if (status != MU_OK)
		return status;
	if (!mu_blocks_find(explaining->graph->blocks, address, &block))
		return MU_OK;
	out->referrers = mu_arena_alloc(
	    &explaining->out->arena, found.count + 1, sizeof(*out->referrers));
	if (out->referrers == NULL)
		return MU_ERR_NO_MEMORY;
	out->total_referrers = found.total;
	for (i = 0; i < found.count; i++)
		if (is_link(explaining, &block, &found.items[i]))
			out->total_referrers--;
		else
			mu_place_of_referrer(&explaining->places,
			    &found.items[i],
			    &out->referrers[out->num_referrers++]);
	return MU_OK;
}

/* Ask for the variable at which the route to block NUMBER begins. */
static bool
ask_for_root(struct mu_explaining *explaining, const struct mu_routes *routes,
    uint32_t number)
{
	struct mu_route_step step = mu_routes_step(routes, number);

	while (step.index != MU_NO_NODE && !step.root)
		step = mu_routes_step(routes, step.index);
	return step.index == MU_NO_NODE ||
	    mu_places_ask(
		&explaining->places, &explaining->held.words[step.index], 1);
}

/* The words at which references lie, for their names. */
static bool
ask_for_words(struct mu_explaining *explaining, uint32_t number)
{
	const struct mu_held *held = &explaining->held;
	struct mu_held_word *words;
	size_t i, count = 0;

	words =
	    mu_arena_alloc(explaining->tables, held->count + 1, sizeof(*words));
	if (words == NULL)
		return false;
	for (i = 0; i < held->count; i++)
		if (held->words[i].node == number)
			words[count++] = held->words[i];
	return mu_places_ask(&explaining->places, words, count);
}

static enum mu_status
explain_block(struct mu_explaining *explaining, const struct mu_routes *routes,
    uint32_t number, uintptr_t address, struct mu_why_held *out)
{
	bool all = explaining->out->wanted.all;
	struct mu_path path;

	if (!ask_for_root(explaining, routes, number) ||
	    (all && !ask_for_words(explaining, number)) ||
	    !mu_path_find(explaining, routes, number, &path))
		return MU_ERR_NO_MEMORY;
	out->path = path.steps;
	out->num_steps = path.count;
	out->about = path.doubtful;
	return all ? list_referrers(explaining, address, out) : MU_OK;
}

static enum mu_status
explain_address(
    struct mu_explaining *explaining, const struct mu_routes *routes)
{
	struct mu_why_held *out = &explaining->out->why;
	uintptr_t address = explaining->out->wanted.address;
	struct mu_block block;

	out->known = true;
	if (!mu_blocks_find(explaining->graph->blocks, address, &block))
		return MU_OK;
	out->found = true;
	out->reachable = mu_block_marked(&block);
	return explain_block(explaining, routes, block.number, address, out);
}

/* The types that are wanted: of this name, or that match it as a pattern. */
static bool *
choose_types(const struct mu_explaining *explaining)
{
	const char *wanted = explaining->out->wanted.why_type;
	const struct mu_live_types *live = &explaining->types;
	bool *chosen =
	    mu_arena_alloc(explaining->tables, live->count + 1, sizeof(bool));
	size_t i;

	for (i = 1; chosen != NULL && i < live->count; i++)
		chosen[i] = strcmp(live->types[i].name, wanted) == 0 ||
		    fnmatch(wanted, live->types[i].name, 0) == 0;
	return chosen;
}

/* Block NODE, if it is of a chosen type, or of a row that has that name. */
static bool
is_chosen(const struct mu_explaining *explaining, const bool *chosen,
    uint32_t node, struct mu_block *block)
{
	const struct mu_live_type *type;

	if (node >= explaining->graph->num_blocks)
		return false;
	type = mu_live_type_of(&explaining->types, node);
	return (chosen[explaining->types.of[node]] || type->stride > 0) &&
	    mu_blocks_at(explaining->graph->blocks, node, block) &&
	    (chosen[explaining->types.of[node]] ||
		mu_live_type_is_row(type, mu_range_size(block->range),
		    explaining->out->wanted.why_type));
}

static enum mu_status
explain_type(struct mu_explaining *explaining, const struct mu_routes *routes)
{
	struct mu_why_type *out = &explaining->out->why_type;
	const size_t wanted = explaining->out->wanted.why_count;
	const bool *chosen = choose_types(explaining);
	enum mu_status status = MU_OK;
	struct mu_why_held *held;
	struct mu_block block;
	size_t i;

	out->nearest = mu_arena_alloc(
	    &explaining->out->arena, wanted + 1, sizeof(*out->nearest));
	if (chosen == NULL || out->nearest == NULL)
		return MU_ERR_NO_MEMORY;
	out->known = true;
	for (i = 0; i < routes->num_order && status == MU_OK; i++) {
		if (!is_chosen(explaining, chosen, routes->order[i], &block))
			continue;
		out->blocks++;
		out->bytes += mu_range_size(block.range);
		if (out->count >= wanted)
			continue;
		held = &out->nearest[out->count++];
		held->known = held->found = held->reachable = true;
		status = explain_block(
		    explaining, routes, block.number, block.range.begin, held);
	}
	return status;
}

enum mu_status
mu_why_explain(struct mu_explaining *explaining)
{
	struct mu_routes routes;
	enum mu_status status = mu_routes_find(&routes, explaining->graph,
	    &explaining->held, explaining->tables, &explaining->deadline);

	if (status == MU_OK && explaining->out->wanted.why)
		status = explain_address(explaining, &routes);
	if (status == MU_OK && explaining->out->wanted.why_type != NULL)
		status = explain_type(explaining, &routes);
	return status;
}
