/* Folding random graphs, compared with a model that computes reachability. */
#include "tests/support/graph/folding.h"
#include "tests/support/suite.h"

#define MAX_MODEL 200
#define MAX_DEGREE 6

/* The model: who reaches whom, by the closure of the relation. */
struct model {
	size_t count, words[MAX_MODEL];
	void **nodes[MAX_MODEL];
	bool reaches[MAX_MODEL][MAX_MODEL];
};

static void
model_close(struct model *model)
{
	size_t i, j, k;

	for (k = 0; k < model->count; k++)
		for (i = 0; i < model->count; i++)
			for (j = 0; model->reaches[i][k] && j < model->count;
			     j++)
				if (model->reaches[k][j])
					model->reaches[i][j] = true;
}

/* Is I the lowest of a component that nothing else reaches? */
static bool
model_is_entry(const struct model *model, size_t i)
{
	size_t j;

	for (j = 0; j < model->count; j++)
		if (j != i && model->reaches[j][i] &&
		    (!model->reaches[i][j] || j < i))
			return false;
	return true;
}

static void
model_expect(const struct model *model)
{
	size_t i, j, k, num_owners = 0, count, size;

	for (i = 0; i < model->count; i++) {
		if (!model_is_entry(model, i))
			continue;
		num_owners++;
		for (j = count = size = 0; j < model->count; j++) {
			if (j == i || !model->reaches[i][j])
				continue;
			count++;
			size += bytes(model->words[j]);
		}
		for (k = 0; k < folding_leaks.entries.count; k++)
			if (folding_entries[k].range.begin ==
			    (uintptr_t)model->nodes[i])
				break;
		expect_entry(
		    k, model->nodes[i], bytes(model->words[i]), count, size);
	}
	ck_assert_uint_eq(folding_leaks.entries.count, num_owners);
	for (k = 1; k < folding_leaks.entries.count; k++)
		ck_assert(folding_entries[k - 1].total_size >
			folding_entries[k].total_size ||
		    (folding_entries[k - 1].total_size ==
			    folding_entries[k].total_size &&
			folding_entries[k - 1].range.begin <
			    folding_entries[k].range.begin));
}

/*
 * With LIMIT entries: the first of all NUM_TOTAL, which are folded already; and
 * what is in none of them, each block counted once.
 */
static void
model_expect_cut(const struct model *model, size_t limit, size_t num_total)
{
	static struct mu_leak all[MAX_MODEL];
	size_t i, j, k, count = 0, size = 0;
	bool reported[MAX_MODEL] = { false };

	memcpy(all, folding_entries, limit * sizeof(*all));
	ck_assert_int_eq(fold_until(limit, FAKE_NO_DEADLINE), MU_OK);
	for (i = 0; i < limit; i++)
		expect_entry(i, (void **)all[i].range.begin,
		    mu_range_size(all[i].range), all[i].referenced_count,
		    all[i].referenced_size);
	ck_assert_uint_eq(folding_leaks.num_total, num_total);
	ck_assert_uint_eq(
	    folding_leaks.entries.count, limit < num_total ? limit : num_total);
	for (i = 0; i < model->count; i++)
		for (k = 0; k < folding_leaks.entries.count; k++)
			if (folding_entries[k].range.begin ==
			    (uintptr_t)model->nodes[i])
				for (j = 0; j < model->count; j++)
					reported[j] |=
					    j == i || model->reaches[i][j];
	for (i = 0; i < model->count; i++) {
		count += !reported[i];
		size += reported[i] ? 0 : bytes(model->words[i]);
	}
	ck_assert_uint_eq(folding_leaks.unreported_count, count);
	ck_assert_uint_eq(folding_leaks.unreported_bytes, size);
}

/* The sizes of all entries' first blocks, cut or not. */
static void
model_expect_unrecorded(const struct model *model)
{
	size_t i, size, least = SIZE_MAX, most = 0;

	for (i = 0; i < model->count; i++) {
		if (!model_is_entry(model, i))
			continue;
		size = bytes(model->words[i]);
		least = size < least ? size : least;
		most = size > most ? size : most;
	}
	ck_assert_uint_eq(folding_leaks.unrecorded_least, least);
	ck_assert_uint_eq(folding_leaks.unrecorded_most, most);
}

static void
model_point(struct model *model, size_t from, size_t to)
{
	size_t offset =
	    rand() % 2 ? 0 : (size_t)rand() % bytes(model->words[to]);

	model->nodes[from][(size_t)rand() % model->words[from]] =
	    (char *)model->nodes[to] + offset;
}

/* Edges from anywhere to anywhere, at most MOST from each. */
static void
model_tangle(struct model *model, size_t most)
{
	size_t i, edges;

	for (i = 0; i < model->count; i++)
		for (edges = (size_t)rand() % (most + 1); edges > 0; edges--)
			model_point(model, i,
			    rand() % 4 == 0 ? i / 2
					    : (size_t)rand() % model->count);
}

/* One node leads to each, or two to some: chains, rings, what hangs on them. */
static void
model_hang(struct model *model)
{
	size_t i, near = 1 + (size_t)rand() % model->count;
	unsigned seldom = (unsigned)rand() % 3 * 10;

	for (i = 0; i < model->count; i++) {
		if (rand() % 8 != 0)
			model_point(model,
			    (i + (size_t)rand() % near) % model->count, i);
		if (seldom != 0 && (unsigned)rand() % seldom == 0)
			model_point(model, (size_t)rand() % model->count, i);
	}
}

/* Rings and nothing else. */
static void
model_permute(struct model *model)
{
	size_t to[MAX_MODEL], i, j, other;

	for (i = 0; i < model->count; i++)
		to[i] = i;
	for (i = model->count; i > 1; i--) {
		j = (size_t)rand() % i;
		other = to[i - 1];
		to[i - 1] = to[j];
		to[j] = other;
	}
	for (i = 0; i < model->count; i++)
		model_point(model, i, to[i]);
}

static void
model_make(struct model *model, size_t style)
{
	size_t i, j, to;

	memset(model, 0, sizeof(*model));
	model->count = 1 + (size_t)rand() % MAX_MODEL;
	for (i = 0; i < model->count; i++) {
		model->words[i] = MAX_DEGREE + (size_t)rand() % 20;
		model->nodes[i] = folding_node(model->words[i]);
	}
	if (style % 5 < 2)
		model_hang(model);
	else if (style % 5 == 2)
		model_permute(model);
	else
		model_tangle(model,
		    style % 5 == 3 ? 2 : 1 + (size_t)rand() % MAX_DEGREE);
	for (i = 0; i < model->count; i++)
		for (j = 0; j < model->words[i]; j++)
			for (to = 0; to < model->count; to++)
				if ((char *)model->nodes[i][j] >=
					(char *)model->nodes[to] &&
				    (char *)model->nodes[i][j] <
					(char *)model->nodes[to] +
					    bytes(model->words[to]))
					model->reaches[i][to] = true;
}

/* Edges that are stored, edges that are read. */
static void
expect_model(const struct model *model, size_t round)
{
	size_t num_total;

	fold();
	ck_assert_uint_eq(folding_leaks.num_leaks, model->count);
	model_expect(model);
	num_total = folding_leaks.entries.count;
	model_expect_cut(model, num_total, num_total);
	model_expect_cut(model, 1 + round % num_total, num_total);
	model_expect_cut(model, 1 + (1 + round % num_total) / 4, num_total);
	model_expect_unrecorded(model);
}

TEST_LOOP(random_graphs, 0, FAKE_KINDS)
{
	static struct model model;
	size_t round;

	for (round = 0; round < 600; round++) {
		srand((unsigned)round + 1);
		folding_open_heap(_i, 1 << 20);
		model_make(&model, round);
		model_close(&model);
		after_make = NULL;
		expect_model(&model, round);
		after_make = forget_edges;
		expect_model(&model, round);
		fake_heap_close(&folding_heap);
	}
	folding_open_heap(_i, 4096);
}

SUITE(.teardown = folding_teardown);
