#include "lib/explain/holdings.h"

#include <string.h>

#include "lib/symbolize/symbols.h"
#include "mu/text.h"

#define LEAST 8       /* blocks; fewer are no collection */
#define SHARE 20      /* of the heap; less is not looked for */
#define NAME_SIZE 160 /* bytes */

struct holding {
	size_t blocks, bytes;
};

struct finding {
	struct mu_explaining *explaining;
	const uint16_t *of;
	const struct mu_python_held *python;
	uint32_t *roots;          /* by node: index of a word, or MU_NO_NODE */
	struct holding *holdings; /* by word */
	size_t bytes;             /* of all blocks without a path */
};

static bool
count_rest(void *ctx, const struct mu_block *block)
{
	struct finding *finding = ctx;

	if (mu_block_marked(block) && finding->of[block->number] == 0)
		finding->bytes += mu_range_size(block->range);
	return true;
}

static bool
count_block(void *ctx, const struct mu_block *block)
{
	struct finding *finding = ctx;
	uint32_t word = finding->roots[block->number];

	if (!mu_block_marked(block) || finding->of[block->number] != 0 ||
	    word == MU_NO_NODE)
		return true;
	finding->holdings[word].blocks++;
	finding->holdings[word].bytes += mu_range_size(block->range);
	return true;
}

/* The word where the route to each node begins. */
static enum mu_status
find_roots(struct finding *finding)
{
	struct mu_explaining *explaining = finding->explaining;
	size_t i, count = explaining->graph->num_nodes;
	struct mu_route_step step;
	struct mu_routes routes;
	enum mu_status status;

	status = mu_routes_find(&routes, explaining->graph, &explaining->held,
	    explaining->tables, &explaining->deadline);
	if (status != MU_OK)
		return status;
	finding->roots = mu_arena_alloc_table(
	    explaining->tables, count + 1, sizeof(*finding->roots));
	finding->holdings = mu_arena_alloc_table(explaining->tables,
	    explaining->held.count + 1, sizeof(*finding->holdings));
	if (finding->roots == NULL || finding->holdings == NULL)
		return MU_ERR_NO_MEMORY;
	memset(finding->roots, 0xff, count * sizeof(*finding->roots));
	for (i = 0; i < routes.num_order; i++) {
		step = mu_routes_step(&routes, routes.order[i]);
		if (step.index != MU_NO_NODE)
			finding->roots[routes.order[i]] =
			    step.root ? step.index : finding->roots[step.index];
	}
	return MU_OK;
}

/* "served+0x4060": the same in each look, wherever the module is. */
static void
name_place(struct mu_text *text, const struct mu_explaining *explaining,
    const struct mu_held_word *word, const char *path)
{
	const struct mu_snapshot *snap = explaining->snap;
	const char *slash = strrchr(path, '/');
	size_t i;

	for (i = 0; i < snap->num_mappings; i++)
		if (strcmp(snap->mappings[i].name, path) == 0)
			break;
	if (i < snap->num_mappings &&
	    snap->mappings[i].range.begin <= word->address)
		mu_text_add(text, "%s+0x%zx", slash == NULL ? path : slash + 1,
		    word->address - snap->mappings[i].range.begin);
}

/*
 * A word of a stack or a register may be one that a function further out keeps,
 * so only the thread is named. Returns false if there is no name that is the
 * same in each look.
 */
static bool
name_word(struct mu_explaining *explaining, const struct mu_held_word *word,
    char *name)
{
	struct mu_text text = { name, NAME_SIZE, 0 };
	struct mu_step step;

	name[0] = '\0';
	mu_place_of_word(&explaining->places, word, &step);
	if (step.kind == MU_STEP_VARIABLE && step.name != NULL)
		mu_text_add(&text, "%s", step.name);
	else if (step.kind == MU_STEP_VARIABLE && step.module != NULL)
		name_place(&text, explaining, word, step.module);
	else if (step.kind == MU_STEP_STACK || step.kind == MU_STEP_REGISTER)
		mu_text_add(&text, "probably the stack of thread '%s'",
		    step.thread_name == NULL ? "?" : step.thread_name);
	else if (step.kind == MU_STEP_TLS)
		mu_text_add(&text, "the variables of thread '%s'",
		    step.thread_name == NULL ? "?" : step.thread_name);
	return name[0] != '\0';
}

/* True if CPython's modules hold, by their names, most of what word INDEX does.
 */
static bool
is_in_modules(const struct finding *finding, size_t index)
{
	return mu_range_has(finding->python->variables,
		   finding->explaining->held.words[index].address) &&
	    finding->holdings[index].bytes / 2 <= finding->python->bytes;
}

/* The word that holds the most of those that were not taken. */
static struct holding *
next_holding(struct finding *finding, size_t *index)
{
	struct holding *holding, *best = NULL;
	size_t i;

	for (i = 0; i < finding->explaining->held.count; i++) {
		holding = &finding->holdings[i];
		if (holding->blocks >= LEAST &&
		    (best == NULL || holding->bytes > best->bytes) &&
		    !is_in_modules(finding, i)) {
			best = holding;
			*index = i;
		}
	}
	return best;
}

static bool
add_holding(struct finding *finding, const struct holding *holding,
    const char *name, struct mu_collection *all, size_t declared, size_t *count)
{
	size_t i;

	for (i = 0; i < *count && strcmp(all[i].name, name) != 0;)
		i++;
	if (i == *count) {
		all[i] = (struct mu_collection) {
			.name =
			    mu_places_keep(&finding->explaining->places, name)
		};
		if (all[i].name == NULL)
			return false;
		++*count;
	}
	/* Of a path it is known what its elements are. */
	if (i >= declared)
		all[i].elements += holding->blocks;
	all[i].bytes += holding->bytes;
	return true;
}

enum mu_status
mu_holdings_add(struct mu_explaining *explaining, const uint16_t *of,
    const struct mu_python_held *python, struct mu_collection *all,
    size_t *count, size_t most)
{
	struct finding finding = {
		.explaining = explaining, .of = of, .python = python
	};
	const struct mu_blocks *blocks = explaining->graph->blocks;
	size_t index = 0, declared = *count, tries;
	struct holding *holding;
	enum mu_status status;
	char name[NAME_SIZE];

	mu_blocks_each(blocks, count_rest, &finding);
	if (finding.bytes < explaining->out->live_bytes / SHARE ||
	    explaining->graph->cells == NULL || explaining->graph->reads)
		return MU_OK;
	status = find_roots(&finding);
	if (status != MU_OK)
		return status;
	mu_blocks_each(blocks, count_block, &finding);
	for (tries = 0; tries < most && *count < most; tries++) {
		holding = next_holding(&finding, &index);
		if (holding == NULL)
			break;
		if (name_word(
			explaining, &explaining->held.words[index], name) &&
		    !add_holding(&finding, holding, name, all, declared, count))
			return MU_ERR_NO_MEMORY;
		holding->blocks = 0;
	}
	return MU_OK;
}
