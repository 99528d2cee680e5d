#include "heapwalk/mark/chains.h"

#include "heapwalk/heaps/spans.h"
#include "heapwalk/subject/deadline.h"
#include "heapwalk/subject/workers.h"

#define MIN_NODES (1u << 18) /* the cells of fewer nodes fit into the cache */
#define SHARE 64             /* one in that many nodes makes a chain long */
#define LANES 32             /* chains that a worker follows at once */
#define MAX_STEPS (16 * MU_SAMPLE_NODES)
#define MIN_SAMPLES 64 /* that justify a thread */

struct lane {
	uint32_t at, sample, steps;
};

static void
expect(const struct mu_chains *chains, uint32_t node)
{
	const struct mu_blocks *blocks = chains->graph->blocks;

	__builtin_prefetch(&chains->graph->cells[node]);
	if (chains->marking && !chains->spread)
		__builtin_prefetch(&blocks->marks[node], 1);
}

/* Start LANE at the next sample; false if there is none. */
static bool
begin(struct mu_chains *chains, struct lane *lane)
{
	size_t unit;

	for (;;) {
		unit = __atomic_fetch_add(&chains->unit, 1, __ATOMIC_RELAXED);
		if (unit >= (chains->marking ? chains->num_reached
					     : chains->num_samples))
			return false;
		lane->sample =
		    chains->marking ? chains->reached[unit] : (uint32_t)unit;
		lane->at = mu_sample_node(lane->sample);
		lane->steps = 0;
		if (lane->at < chains->graph->num_nodes)
			break;
	}
	expect(chains, lane->at);
	return true;
}

/* Other workers change other bits of the same word. */
static void
mark(const struct mu_chains *chains, uint32_t node)
{
	const struct mu_blocks *blocks = chains->graph->blocks;

	if (!chains->spread)
		mu_blocks_mark(blocks, node);
	__atomic_fetch_or(&blocks->followed[node / 64], 1ull << (node % 64),
	    __ATOMIC_RELAXED);
}

/* Returns false at the end of the lane's stretch. */
static bool
step(struct mu_chains *chains, struct lane *lane)
{
	uint32_t cell = chains->graph->cells[lane->at];
	uint32_t to = cell & ~MU_CELL_ONE;
	bool one = (cell & MU_CELL_ONE) != 0;
	bool ends = one && mu_chains_sample(chains, to);

	if (chains->marking)
		mark(chains, lane->at);
	if (one && !ends && ++lane->steps < MAX_STEPS) {
		lane->at = to;
		expect(chains, to);
		return true;
	}
	if (!chains->marking && ends)
		chains->next[lane->sample] = 1 + to / MU_SAMPLE_NODES;
	return false;
}

static void
follow_some(void *ctx, unsigned worker)
{
	struct mu_chains *chains = ctx;
	struct mu_deadline deadline = { .ns = chains->deadline_ns };
	struct lane lanes[LANES];
	size_t count = 0, i;

	(void)worker;
	while (count < LANES && begin(chains, &lanes[count]))
		count++;
	while (count > 0 && !mu_deadline_passed(&deadline, 8 * count)) {
		for (i = 0; i < count; i++)
			if (!step(chains, &lanes[i]) &&
			    !begin(chains, &lanes[i]))
				lanes[i--] = lanes[--count];
	}
	if (deadline.passed)
		__atomic_store_n(&chains->late, true, __ATOMIC_RELAXED);
}

static void
follow_all(struct mu_chains *chains, bool marking, size_t samples)
{
	size_t count = 1 + samples / MIN_SAMPLES;

	chains->marking = marking;
	chains->unit = 0;
	mu_workers_run(chains->graph->blocks->workers,
	    count < MU_WORKERS_MAX ? (unsigned)count : MU_WORKERS_MAX,
	    follow_some, chains);
}

/* Mark the nodes that were followed. */
static void
spread(const struct mu_graph *graph)
{
	const struct mu_blocks *blocks = graph->blocks;
	uint32_t first;

	for (first = 0; first < graph->num_nodes; first += 64)
		mu_marks_add(blocks, first, blocks->followed[first / 64]);
}

static void
survey(struct mu_chains *chains)
{
	struct mu_arena *arena = chains->graph->arena;
	size_t refused = arena->refused, count;
	uint32_t *tables;

	count = ((size_t)chains->graph->num_nodes + MU_SAMPLE_NODES - 1) /
	    MU_SAMPLE_NODES;
	tables = mu_arena_alloc(arena, 2 * count, sizeof(*tables));
	arena->refused = refused;
	if (tables == NULL)
		return;
	chains->next = tables;
	chains->reached = tables + count;
	chains->num_samples = count;
	follow_all(chains, false, count);
}

void
mu_chains_open(struct mu_chains *chains, const struct mu_graph *graph,
    uint64_t deadline_ns)
{
	*chains = (struct mu_chains) {
		.graph = graph,
		.deadline_ns = deadline_ns,
		.tried = graph->cells == NULL || graph->num_nodes < MIN_NODES,
	};
}

void
mu_chains_count(struct mu_chains *chains, size_t steps, size_t far)
{
	chains->steps += steps;
	chains->far += far;
	if (chains->tried || chains->far < chains->graph->num_nodes / SHARE ||
	    chains->far < chains->steps / 2)
		return;
	chains->tried = true;
	survey(chains);
}

uint32_t
mu_chains_follow(struct mu_chains *chains, uint32_t node)
{
	uint32_t sample = node / MU_SAMPLE_NODES, next;

	/* Visit each sample once, so that a ring ends. */
	chains->num_reached = 0;
	while (chains->next[sample] != 0) {
		chains->reached[chains->num_reached++] = sample;
		next = chains->next[sample] - 1;
		chains->next[sample] = 0;
		sample = next;
	}
	if (chains->num_reached == 0)
		return node;
	chains->spread = chains->num_reached > chains->num_samples / SHARE;
	follow_all(chains, true, chains->num_reached);
	if (chains->spread)
		spread(chains->graph);
	return mu_sample_node(sample);
}
