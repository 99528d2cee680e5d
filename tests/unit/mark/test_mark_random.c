/*
 * Marking random graphs, compared with a recursive model; half of the rounds
 * with a stack of a few entries.
 */
#include "tests/support/graph/marking.h"
#include "tests/support/suite.h"

#define MAX_MODEL 300

struct model {
	size_t count, words[MAX_MODEL];
	void **nodes[MAX_MODEL];
	bool reached[MAX_MODEL];
};

static void
model_reach(struct model *model, size_t i)
{
	size_t j, to;

	if (model->reached[i])
		return;
	model->reached[i] = true;
	for (j = 0; j < fake_usable(&marking_heap, model->words[i] * W) / W;
	     j++)
		for (to = 0; to < model->count; to++)
			if ((char *)model->nodes[i][j] >=
				(char *)model->nodes[to] &&
			    (char *)model->nodes[i][j] <
				(char *)model->nodes[to] +
				    fake_usable(
					&marking_heap, model->words[to] * W))
				model_reach(model, to);
}

static void
model_make(struct model *model)
{
	size_t i, j, to, size;

	memset(model, 0, sizeof(*model));
	model->count = 1 + (size_t)rand() % MAX_MODEL;
	for (i = 0; i < model->count; i++) {
		model->words[i] = 1 + (size_t)rand() % 20;
		model->nodes[i] = marking_node(model->words[i]);
	}
	for (i = 0; i < model->count; i++) {
		for (j = (size_t)rand() % 3; j > 0; j--) {
			to = (size_t)rand() % model->count;
			size = fake_usable(&marking_heap, model->words[to] * W);
			model->nodes[i][(size_t)rand() % model->words[i]] =
			    (char *)model->nodes[to] +
			    (rand() % 2 ? 0 : (size_t)rand() % (size + 2));
		}
	}
}

TEST_LOOP(random_graphs, 0, FAKE_KINDS)
{
	static struct model model;
	size_t round, i, to;

	for (round = 0; round < 300; round++) {
		srand((unsigned)round + 1);
		marking_open_heap(_i, 1 << 20);
		model_make(&model);
		for (i = 0; i < 4; i++) {
			to = (size_t)rand() % model.count;
			root_value(model.nodes[to]);
			model_reach(&model, to);
		}
		ck_assert_int_eq(
		    mark_bounded(round % 2 ? 1000 : 1 + round % 7), MU_OK);
		for (i = 0; i < model.count; i++)
			ck_assert_int_eq(
			    fake_marked(&marking_heap, model.nodes[i]),
			    model.reached[i]);
		fake_heap_close(&marking_heap);
	}
	marking_open_heap(_i, 4096);
}

SUITE(.teardown = marking_teardown);
