#include "lib/explain/python_owners.h"

#include "heapwalk/explain/edges.h"
#include "lib/explain/heads.h"
#include "lib/explain/python_edges.h"

#define IN_MEMORY 0x80000000u

enum state {
	OWNER, /* or it is not known that it is none */
	NONE,
	LINK,
};

struct finding {
	struct mu_explaining *explaining;
	struct mu_held all; /* the words before */
	uint8_t *states;    /* enum state, for each of them */
	uint64_t *linked;   /* a bit for each block: a link to it is gone */
	uint32_t *owners;   /* by block: 1 + those in blocks; 0: has no count;
			       IN_MEMORY: words of no block may be some, too */
};

static bool
has_objects(const struct mu_live_types *live)
{
	size_t i;

	for (i = 1; i < live->count; i++)
		if (live->types[i].counter == MU_COUNTER_PYTHON)
			return true;
	return false;
}

static void
note_linked(struct finding *finding, uint32_t number)
{
	finding->linked[number / 64] |= 1ull << number % 64;
}

static bool
was_linked(const struct finding *finding, uint32_t number)
{
	return (finding->linked[number / 64] >> number % 64 & 1) != 0;
}

/* True if WORD refers to an object in the collector's way. */
static bool
is_link(const struct mu_explaining *explaining, const struct mu_held_word *word)
{
	const struct mu_blocks *blocks = explaining->graph->blocks;
	struct mu_block block;
	struct mu_range links;
	uintptr_t value;

	if (word->kind == MU_HELD_REGISTER ||
	    !mu_blocks_at(blocks, word->node, &block))
		return false;
	links = mu_python_links_of(explaining, &block);
	return mu_range_size(links) > 0 &&
	    mu_snapshot_word(explaining->snap, word->address, &value) &&
	    (value & ~MU_PYTHON_LINK_FLAGS) == links.begin;
}

/* Of the blocks that words refer to. */
static void
count_owners(struct finding *finding)
{
	const struct mu_graph *graph = finding->explaining->graph;
	uint32_t node, at, target;
	const struct mu_held_word *word;
	size_t i;

	for (i = 0; i < finding->all.count; i++) {
		word = &finding->all.words[i];
		if (finding->states[i] != OWNER ||
		    mu_python_uses_of(finding->explaining, word->node) == 0)
			continue;
		finding->owners[word->node] |=
		    word->kind == MU_HELD_ANONYMOUS ? IN_MEMORY | 1 : 1;
	}
	for (node = 0; node < graph->num_nodes; node++) {
		if (mu_python_is_weak(
			finding->explaining, mu_route_block(graph, node)))
			continue;
		at = graph->cells[node];
		while (mu_edges_next(graph, &at, &target))
			if (target < graph->num_blocks &&
			    finding->owners[target] != 0)
				finding->owners[target]++;
		mu_deadline_passed(&finding->explaining->deadline, 8);
	}
}

static void
judge_words(struct finding *finding)
{
	const struct mu_held *all = &finding->all;
	uint32_t node, owners;
	size_t i;

	for (i = 0; i < all->count; i++) {
		if (!is_link(finding->explaining, &all->words[i]))
			continue;
		finding->states[i] = LINK;
		note_linked(finding, all->words[i].node);
		mu_deadline_passed(&finding->explaining->deadline, 4);
	}
	count_owners(finding);
	for (i = 0; i < all->count; i++) {
		node = all->words[i].node;
		owners = finding->owners[node] & ~IN_MEMORY;
		if (finding->states[i] != OWNER)
			continue;
		if (owners > 1 &&
		    owners > mu_python_uses_of(finding->explaining, node))
			finding->states[i] = NONE;
		else if (finding->owners[node] == 1 &&
		    mu_python_is_table(finding->explaining, node))
			mu_python_edges_of_free(
			    finding->explaining, finding->linked, node);
	}
}

/*
 * The words that are owners, by address: behind one for each of COUNT NODES,
 * which have none.
 */
static bool
take_words(struct finding *finding, const uint32_t *nodes, size_t count)
{
	struct mu_held *held = &finding->explaining->held;
	size_t i;

	*held = (struct mu_held) { .max = finding->all.count + count };
	held->words = mu_arena_alloc(
	    finding->explaining->tables, held->max + 1, sizeof(*held->words));
	if (held->words == NULL)
		return false;
	for (i = 0; i < count; i++)
		held->words[held->count++] =
		    (struct mu_held_word) { .node = nodes[i],
			    .kind = MU_HELD_INTERPRETER };
	for (i = 0; i < finding->all.count; i++)
		if (finding->states[i] == OWNER)
			held->words[held->count++] = finding->all.words[i];
	return true;
}

static bool
is_object(const struct finding *finding, uint32_t number)
{
	return mu_live_type_of(&finding->explaining->types, number)->counter ==
	    MU_COUNTER_PYTHON;
}

/*
 * Of a cycle one block is the head: of those that words lead to; an object
 * before its parts, such as the values of its attributes.
 */
static void
find_heads(struct finding *finding, struct mu_heads *heads)
{
	uint32_t node, blocks = heads->routes->graph->num_blocks;
	int parts;
	size_t i;

	for (parts = 0; parts < 2; parts++) {
		for (i = 0; i < finding->all.count; i++) {
			node = finding->all.words[i].node;
			if (finding->states[i] == NONE &&
			    is_object(finding, node) != (parts == 1))
				mu_heads_add(heads, node);
		}
		for (node = 0; node < blocks; node++)
			if (was_linked(finding, node) &&
			    is_object(finding, node) != (parts == 1))
				mu_heads_add(heads, node);
	}
	mu_heads_keep(heads);
}

/* Words that lead to a head may be owners; the list keeps heads without one. */
static void
restore_words(struct finding *finding, struct mu_heads *heads)
{
	size_t i, kept = 0;
	uint32_t node;

	for (i = 0; i < finding->all.count; i++) {
		node = finding->all.words[i].node;
		if (finding->states[i] != NONE || !mu_heads_has(heads, node))
			continue;
		finding->states[i] = OWNER;
		finding->linked[node / 64] &= ~(1ull << node % 64);
	}
	for (i = 0; i < heads->count; i++)
		if (was_linked(finding, heads->list[i]))
			heads->list[kept++] = heads->list[i];
	heads->count = kept;
}

static enum mu_status
hold_the_rest(struct finding *finding)
{
	struct mu_explaining *explaining = finding->explaining;
	struct mu_routes routes;
	struct mu_heads heads;
	enum mu_status status = MU_ERR_NO_MEMORY;

	if (take_words(finding, NULL, 0))
		status = mu_routes_find(&routes, explaining->graph,
		    &explaining->held, explaining->tables,
		    &explaining->deadline);
	if (status != MU_OK)
		return status;
	/* Owners are counted. */
	mu_heads_open(&heads, &routes, finding->owners, &explaining->deadline);
	find_heads(finding, &heads);
	restore_words(finding, &heads);
	if (explaining->deadline.passed)
		return MU_ERR_TIMEOUT;
	return take_words(finding, heads.list, heads.count) ? MU_OK
							    : MU_ERR_NO_MEMORY;
}

enum mu_status
mu_python_owners_find(struct mu_explaining *explaining)
{
	struct mu_graph *graph = explaining->graph;
	struct mu_arena *tables = explaining->tables;
	struct finding finding = { .explaining = explaining,
		.all = explaining->held };
	enum mu_status status;

	/* The links of objects that are not known would be taken for owners. */
	if (explaining->types.python && explaining->types.late)
		return MU_ERR_TIMEOUT;
	explaining->python = has_objects(&explaining->types);
	if (!explaining->python)
		return MU_OK;
	finding.linked = mu_arena_alloc_table(tables,
	    (size_t)graph->num_blocks / 64 + 1, sizeof(*finding.linked));
	finding.owners = mu_arena_alloc_table(
	    tables, (size_t)graph->num_blocks + 1, sizeof(*finding.owners));
	finding.states = mu_arena_alloc_table(
	    tables, finding.all.count + 1, sizeof(*finding.states));
	if (finding.linked == NULL || finding.owners == NULL ||
	    finding.states == NULL || graph->cells == NULL || graph->reads)
		return MU_ERR_NO_MEMORY;
	status = mu_python_edges_cut(explaining, finding.linked);
	if (status != MU_OK)
		return status;
	judge_words(&finding);
	return explaining->deadline.passed ? MU_ERR_TIMEOUT
					   : hold_the_rest(&finding);
}
