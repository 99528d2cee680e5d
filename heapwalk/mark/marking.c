/*
 * Marking has two orders. With a stack each node is a cache miss, overlapped
 * with those of other nodes. A sweep follows the marked nodes in the order of
 * their numbers, including those that it marks ahead of itself; what it marks
 * behind itself needs another sweep: three or four in all for a random graph.
 */
#include "heapwalk/mark/marking.h"

#include "heapwalk/heaps/spans.h"
#include "heapwalk/mark/marker.h"
#include "heapwalk/subject/workers.h"

#define WORD_NODES 64
#define UNIT_WORDS 128 /* words of bits per unit of work */

/* If a sweep follows fewer than 1/FEW of the nodes, the stack is faster. */
#define FEW 256

#define MIN_SWEPT ((size_t)1 << 16) /* nodes that justify a thread */
#define ROUNDS 8                    /* over 64 nodes that lead to each other */

/* Bit i: a worker found node 64 * WORD + i. */
static inline uint64_t
found_by_any(const struct mu_marking *marking, size_t word)
{
	uint64_t bits = 0;
	size_t i;

	for (i = 0; i < marking->num_found; i++)
		bits |=
		    __atomic_load_n(&marking->found[i * marking->words + word],
			__ATOMIC_RELAXED);
	return bits;
}

/*
 * Follow the nodes of word I that are in MARKED but not followed. Returns their
 * number.
 */
static inline size_t
sweep_word(const struct mu_marking *marking, struct mu_marker *marker, size_t i,
    uint64_t marked)
{
	struct mu_blocks *blocks = marking->graph->blocks;
	uint64_t fresh = marked & ~blocks->followed[i];

	if (fresh == 0)
		return 0;
	blocks->followed[i] |= fresh;
	mu_marker_follow_word(marker, (uint32_t)(i * WORD_NODES), fresh);
	return mu_popcount(fresh);
}

static inline uint64_t
marks_of(const struct mu_marking *marking, size_t i)
{
	return mu_marks_from(
	    marking->graph->blocks, (uint32_t)(i * WORD_NODES));
}

static void
sweep_some(void *ctx, unsigned worker)
{
	struct mu_marking *marking = ctx;
	size_t words = marking->words, i, end, count = 0;
	struct mu_marker marker;
	uint64_t marked;

	mu_marker_open(&marker, marking->graph, marking->deadline_ns);
	if (worker < marking->num_found)
		marker.found = &marking->found[worker * words];
	while (!marker.deadline.passed) {
		i = __atomic_fetch_add(
		    &marking->next, UNIT_WORDS, __ATOMIC_RELAXED);
		if (i >= words)
			break;
		end = i + UNIT_WORDS < words ? i + UNIT_WORDS : words;
		for (; i < end; i++) {
			marked = found_by_any(marking, i);
			if (marking->by_marks)
				marked |= marks_of(marking, i);
			count += sweep_word(marking, &marker, i, marked);
		}
	}
	mu_marker_drain(&marker);
	__atomic_fetch_add(&marking->followed, count, __ATOMIC_RELAXED);
	if (marker.deadline.passed)
		__atomic_store_n(&marking->passed, true, __ATOMIC_RELAXED);
}

/* Do one sweep with COUNT workers. Returns true if another one is worth it. */
static bool
sweep(struct mu_marking *marking, unsigned count)
{
	marking->next = marking->followed = 0;
	mu_workers_run(
	    marking->graph->blocks->workers, count, sweep_some, marking);
	return marking->followed > marking->graph->num_nodes / FEW &&
	    !marking->passed;
}

static void
open_found(struct mu_marking *marking, unsigned count)
{
	struct mu_arena *arena = marking->graph->arena;
	size_t refused = arena->refused;

	if (marking->found != NULL)
		return;
	marking->found = mu_arena_alloc_table(
	    arena, count * marking->words, sizeof(*marking->found));
	marking->num_found = marking->found != NULL ? count : 0;
	arena->refused = refused;
}

/*
 * Sweep until a sweep follows too few nodes, and mark what the last one found.
 */
static void
sweep_all(struct mu_marking *marking)
{
	size_t count = 1 + marking->graph->num_nodes / MIN_SWEPT, i;
	unsigned most = mu_workers_count(marking->graph->blocks->workers);

	if (most > count)
		most = (unsigned)count;
	open_found(marking, most);
	marking->by_marks = true;
	while (sweep(marking, most))
		marking->by_marks = marking->num_found == 0;
	for (i = 0; i < marking->words; i++)
		mu_marks_add(marking->graph->blocks, (uint32_t)(i * WORD_NODES),
		    found_by_any(marking, i));
}

/*
 * Follow what leads to higher numbers only, such as a tree that was allocated
 * level by level: all of it in one sweep, its cells in order. By a stack each
 * would be a cache miss, and the stack is never full: a tree of 10^6 nodes
 * is marked in half of the time so.
 */
static void
follow_upwards(struct mu_marking *marking)
{
	struct mu_marker marker;
	size_t i, round;

	mu_marker_open(&marker, marking->graph, marking->deadline_ns);
	for (i = 0; i < marking->words && !marker.deadline.passed; i++) {
		for (round = 0; round < ROUNDS &&
		     sweep_word(marking, &marker, i, marks_of(marking, i)) > 0;
		     round++)
			mu_marker_drain(&marker);
		mu_deadline_passed(&marker.deadline, 1);
	}
	marking->passed |= marker.deadline.passed;
}

/*
 * Follow the stack, in one thread. Returns true if it was full and nodes
 * remain.
 */
static bool
follow(struct mu_marking *marking)
{
	size_t words = marking->words, i;
	struct mu_marker marker;

	mu_marker_open(&marker, marking->graph, marking->deadline_ns);
	marker.stack = marking->stack;
	marker.max_depth = marking->max_depth;
	marker.chains = &marking->chains;
	marker.depth = marking->depth;
	for (i = 0; i < marking->depth; i++)
		mu_marking_follow(marking->graph->blocks, marking->stack[i]);
	marking->depth = 0;
	mu_marker_drain(&marker);
	for (i = 0; marking->scan && i < words && !marker.deadline.passed &&
	     !marker.full;
	     i++) {
		if (sweep_word(marking, &marker, i, marks_of(marking, i)) > 0)
			mu_marker_drain(&marker);
		mu_deadline_passed(&marker.deadline, 1);
	}
	marking->scan = marker.full;
	marking->passed |= marker.deadline.passed;
	return marker.full && !marking->passed;
}

void
mu_marking_run(struct mu_marking *marking)
{
	if (marking->scan && marking->graph->cells != NULL)
		follow_upwards(marking);
	while (!marking->passed && follow(marking))
		sweep_all(marking);
}

bool
mu_marking_open(struct mu_marking *marking, struct mu_graph *graph,
    size_t max_depth, uint64_t deadline_ns)
{
	size_t refused = graph->arena->refused;

	*marking = (struct mu_marking) { .graph = graph,
		.scan = true,
		.max_depth = max_depth,
		.words =
		    ((size_t)graph->num_nodes + WORD_NODES - 1) / WORD_NODES,
		.deadline_ns = deadline_ns };
	mu_chains_open(&marking->chains, graph, deadline_ns);
	for (; marking->max_depth > 0; marking->max_depth /= 2) {
		marking->stack = mu_arena_alloc(
		    graph->arena, marking->max_depth, sizeof(*marking->stack));
		if (marking->stack != NULL)
			break;
	}
	if (marking->stack != NULL)
		graph->arena->refused = refused;
	return marking->stack != NULL;
}
