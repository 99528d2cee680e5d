/* How the blocks of a heap point to each other: see table.h. */
#include <stdlib.h>
#include <string.h>

#include "table.h"

enum link_kind { LINK_LIST, LINK_CYCLE, LINK_TREE, LINK_WIDE };

struct shape {
	const char *name;
	enum link_kind kind;
	bool shuffled; /* else linked in the order of the addresses */
};

static const struct shape shapes[] = {
	{ "list", LINK_LIST, false },
	{ "shuffled", LINK_LIST, true },
	{ "cycle", LINK_CYCLE, true },
	{ "wide", LINK_WIDE, false },
	{ "tree", LINK_TREE, false },
	{ "graph", LINK_TREE, true },
};

static void
link_list(struct table *table, bool closed)
{
	size_t i;

	for (i = 0; i + 1 < table->count; i++)
		*(void **)table->at[i] = table->at[i + 1];
	if (closed && table->count > 0)
		*(void **)table->at[i] = table->at[0];
}

/* A binary tree, so that all is reached; further edges lead anywhere. */
static void
link_tree(struct table *table, size_t edges, uint64_t *random)
{
	size_t i, e, child;

	for (i = 0; i < table->count; i++) {
		void **block = table->at[i];

		for (e = 0; e < 2; e++) {
			child = 2 * i + 1 + e;
			if (child < table->count)
				block[e] = table->at[child];
		}
		for (; e < edges; e++)
			block[e] =
			    table->at[bench_random_below(random, table->count)];
	}
}

/* One block that points to all others. */
static bool
link_wide(struct table *table)
{
	void **block = malloc((table->count + 1) * sizeof(*block));

	if (block == NULL)
		return false;
	memcpy(block, table->at, table->count * sizeof(*block));
	block[table->count] = NULL;
	table->at[table->count++] = table->at[0];
	table->at[0] = block;
	return true;
}

bool
bench_link_kept(
    const struct bench_plan *plan, struct table *kept, uint64_t *random)
{
	const struct shape *shape = shapes;
	const struct shape *end = shapes + sizeof(shapes) / sizeof(*shapes);
	bool graph;

	while (shape < end && strcmp(shape->name, plan->shape) != 0)
		shape++;
	if (shape == end)
		return false;
	if (shape->shuffled)
		bench_table_shuffle(kept, random);
	graph = strcmp(shape->name, "graph") == 0;
	switch (shape->kind) {
	case LINK_WIDE:
		return link_wide(kept);
	case LINK_TREE:
		if (!graph || plan->edges >= 2) {
			link_tree(kept, graph ? plan->edges : 2, random);
			break;
		}
		/* FALLTHROUGH */
	default:
		link_list(kept, shape->kind == LINK_CYCLE);
	}
	return true;
}

void
bench_link_lost(struct table *lost)
{
	size_t i, in;

	for (i = 0; i < lost->count - lost->count % 20; i++) {
		in = i % 20;
		if (in < 7 || (in >= 8 && in < 13))
			*(void **)lost->at[i] = lost->at[i + 1];
		else if (in == 13)
			*(void **)lost->at[i] = lost->at[i - 5];
	}
}
