#include "heapwalk/graph/lost.h"

#include <string.h>

#include "heapwalk/graph/lost_opening.h"
#include "heapwalk/heaps/spans.h"
#include "heapwalk/subject/workers.h"
#include "mu/sys.h"

#define UNIT_GROUPS 256
#define PAGE_MAX ((size_t)64 << 10) /* the largest page size of Linux */

struct totals {
	size_t count, bytes;
};

static bool
add_to_totals(void *ctx, const struct mu_block *block)
{
	struct totals *totals = ctx;

	totals->count++;
	totals->bytes += mu_range_size(block->range);
	return true;
}

void
mu_lost_count(const struct mu_blocks *blocks, size_t *count, size_t *bytes)
{
	struct totals totals = { 0, 0 };

	mu_blocks_each_unmarked(blocks, add_to_totals, &totals);
	*count = totals.count;
	*bytes = totals.bytes;
}

/* Bit i: node MU_LOST_GROUP * I + i is unreachable. */
static inline uint64_t
find_lost(const struct mu_graph *graph, size_t i)
{
	uint64_t lost =
	    ~mu_marks_from(graph->blocks, (uint32_t)(i * MU_LOST_GROUP));
	size_t left = graph->num_nodes - i * MU_LOST_GROUP;

	return left < MU_LOST_GROUP ? lost & ~(~0ull << left) : lost;
}

uint32_t
mu_lost_number(const struct mu_lost *lost, uint32_t node)
{
	size_t low = 0, high = mu_lost_groups(lost->graph), middle;
	uint64_t bits;
	uint32_t skip;

	while (high - low > 1) {
		middle = low + (high - low) / 2;
		if (lost->firsts[middle] <= node)
			low = middle;
		else
			high = middle;
	}
	bits = lost->bits[low];
	for (skip = node - lost->firsts[low]; skip > 0; skip--)
		bits &= bits - 1;
	return (uint32_t)(low * MU_LOST_GROUP) +
	    (uint32_t)__builtin_ctzll(bits);
}

uint32_t
mu_lost_rank(
    const struct mu_graph *graph, const uint64_t *bits, uint32_t *firsts)
{
	size_t i, groups = mu_lost_groups(graph);
	uint32_t next = 0;

	for (i = 0; i < groups; i++) {
		firsts[i] = next;
		next += mu_popcount(bits[i]);
	}
	firsts[groups] = next;
	return next;
}

static bool
number_lost(struct mu_lost *lost)
{
	const struct mu_graph *graph = lost->graph;
	size_t i, groups = mu_lost_groups(graph);

	/* Marking alone needs what is used here, if there is room enough. */
	lost->bits = graph->blocks->followed;
	lost->firsts = graph->linkers;
	if (graph->max_linkers <= groups)
		lost->firsts = mu_arena_alloc(
		    graph->arena, groups + 1, sizeof(*lost->firsts));
	if (lost->firsts == NULL)
		return false;
	for (i = 0; i < groups; i++)
		lost->bits[i] = find_lost(graph, i);
	lost->num_nodes = mu_lost_rank(graph, lost->bits, lost->firsts);
	return true;
}

/* Drop edges to reachable nodes from the list at INDEX. */
static uint32_t
translate_list(struct mu_lost *lost, uint32_t index)
{
	uint32_t *first = &lost->graph->targets[index], *out = first;
	const uint32_t *at = first;
	bool last = false;
	uint32_t target;

	while (!last) {
		if (!mu_lost_read_edge(lost, &at, &target, &last))
			continue;
		*out++ = mu_lost_node(lost, target);
	}
	if (out == first)
		return MU_CELL_NONE;
	if (out == first + 1)
		return MU_CELL_ONE | *first;
	out[-1] |= MU_TARGET_LAST;
	return index + 1;
}

/* Translate the cell of NODE in place. */
static inline void
translate(struct mu_lost *lost, uint32_t node)
{
	uint32_t cell = lost->cells[node], target;

	if (cell == MU_CELL_NONE || cell == MU_CELL_READ)
		return;
	if ((cell & MU_CELL_ONE) == 0) {
		lost->cells[node] = translate_list(lost, cell - 1);
		return;
	}
	target = cell & ~MU_CELL_ONE;
	lost->cells[node] = MU_CELL_NONE;
	if (mu_is_lost(lost, target))
		lost->cells[node] = MU_CELL_ONE | mu_lost_node(lost, target);
}

static void
translate_group(struct mu_lost *lost, size_t i)
{
	uint32_t first = (uint32_t)(i * MU_LOST_GROUP);
	uint64_t bits;

	for (bits = lost->bits[i]; bits != 0; bits &= bits - 1)
		translate(lost, first + (uint32_t)__builtin_ctzll(bits));
}

struct opening {
	struct mu_lost *lost;
	uint64_t deadline_ns;
	bool late;
	size_t next;
};

/*
 * Take the next UNIT_GROUPS of COUNT; false if there are none, or the time is
 * over.
 */
static bool
take(struct opening *opening, struct mu_deadline *deadline, size_t count,
    size_t *i, size_t *end)
{
	if (deadline->passed)
		__atomic_store_n(&opening->late, true, __ATOMIC_RELAXED);
	*i = __atomic_fetch_add(&opening->next, UNIT_GROUPS, __ATOMIC_RELAXED);
	*end = *i + UNIT_GROUPS < count ? *i + UNIT_GROUPS : count;
	mu_deadline_passed(deadline, UNIT_GROUPS * MU_LOST_GROUP);
	return *i < count && !__atomic_load_n(&opening->late, __ATOMIC_RELAXED);
}

static void
translate_some(void *ctx, unsigned worker)
{
	struct opening *opening = ctx;
	struct mu_lost *lost = opening->lost;
	struct mu_deadline deadline = { .ns = opening->deadline_ns };
	size_t i, end, groups = mu_lost_groups(lost->graph);

	(void)worker;
	while (take(opening, &deadline, groups, &i, &end))
		for (; i < end; i++)
			translate_group(lost, i);
}

/* Move each cell to its new number. */
static void
compact(struct mu_lost *lost)
{
	size_t i, groups = mu_lost_groups(lost->graph);
	uint32_t number;
	uint64_t bits;

	for (i = 0; i < groups; i++) {
		number = lost->firsts[i];
		bits = number == i * MU_LOST_GROUP && ~lost->bits[i] == 0
		    ? 0
		    : lost->bits[i];
		for (; bits != 0; bits &= bits - 1)
			lost->cells[number++] = lost->cells[i * MU_LOST_GROUP +
			    (size_t)__builtin_ctzll(bits)];
	}
}

/*
 * Return the whole pages of COUNT values from AT on to the kernel. The arena
 * still has them, as zeros.
 */
static void
spare(uint32_t *at, size_t count)
{
	size_t size = count * sizeof(*at), skip = -(size_t)at % PAGE_MAX;

	if (size >= skip + PAGE_MAX)
		mu_sys_wipe(
		    (char *)at + skip, (size - skip) / PAGE_MAX * PAGE_MAX);
}

/* Cells are needed for new numbers only, and targets for these cells. */
static void
give_back(const struct mu_lost *lost)
{
	const struct mu_graph *graph = lost->graph;

	if (lost->cells == NULL)
		return;
	spare(&lost->cells[lost->num_nodes],
	    (size_t)graph->num_nodes - lost->num_nodes);
	if (lost->num_nodes == 0 && graph->targets != NULL)
		spare(graph->targets,
		    graph->taken < graph->capacity ? graph->taken
						   : graph->capacity);
}

/* Returns false if the time is over. */
static bool
fill(struct mu_lost *lost, struct mu_deadline *deadline)
{
	struct mu_workers *workers = lost->graph->blocks->workers;
	unsigned count = 1 + lost->num_nodes / (UNIT_GROUPS * MU_LOST_GROUP);
	struct opening opening = { .lost = lost, .deadline_ns = deadline->ns };

	if (lost->cells != NULL) {
		mu_workers_run(workers, count, translate_some, &opening);
		compact(lost);
		give_back(lost);
	}
	deadline->passed |= opening.late;
	return !deadline->passed;
}

void
mu_lost_lend_marks(struct mu_lost *lost)
{
	const struct mu_graph *graph = lost->graph;
	size_t size = graph->num_nodes - graph->num_nodes % PAGE_MAX;
	size_t refused = graph->arena->refused;

	if (size == 0)
		return;
	lost->marks = mu_arena_alloc(graph->arena, 1, sizeof(*lost->marks));
	graph->arena->refused = refused;
	if (lost->marks == NULL)
		return;
	memset(graph->blocks->marks, 0, size);
	mu_arena_open_in(lost->marks, graph->blocks->marks, size);
}

void *
mu_lost_borrow(const struct mu_lost *lost, size_t count, size_t size)
{
	void *borrowed = NULL;

	if (lost->marks != NULL)
		borrowed = mu_arena_alloc(lost->marks, count, size);
	return borrowed != NULL
	    ? borrowed
	    : mu_arena_alloc(lost->graph->arena, count, size);
}

void
mu_lost_give_marks_back(struct mu_lost *lost)
{
	const struct mu_graph *graph = lost->graph;
	size_t i, end;
	uint64_t bits;

	if (lost->marks == NULL)
		return;
	end = lost->marks->limit / MU_LOST_GROUP;
	lost->marks = NULL;
	memset(graph->blocks->marks, 0, end * MU_LOST_GROUP);
	for (i = 0; i < end; i++) {
		bits = lost->bits[i];
		bits |= lost->alone != NULL ? lost->alone[i] : 0;
		mu_marks_add(
		    graph->blocks, (uint32_t)(i * MU_LOST_GROUP), ~bits);
	}
}

enum mu_status
mu_lost_open(
    struct mu_lost *lost, struct mu_graph *graph, struct mu_deadline *deadline)
{
	*lost = (struct mu_lost) { .graph = graph, .cells = graph->cells };
	if (!number_lost(lost))
		return MU_ERR_NO_MEMORY;
	mu_lost_set_apart(lost, deadline);
	if (lost->num_nodes > MU_LOST_MAX_NODES)
		return MU_ERR_NO_MEMORY;
	lost->num_blocks = graph->num_blocks < graph->num_nodes
	    ? mu_lost_node(lost, graph->num_blocks)
	    : lost->num_nodes;
	if (lost->num_nodes == 0) {
		give_back(lost);
		return MU_OK;
	}
	return fill(lost, deadline) ? MU_OK : MU_ERR_TIMEOUT;
}

struct sizing {
	const struct mu_lost *lost;
	void (*add)(void *ctx, uint32_t node, size_t size);
	void *ctx;
};

/* The first unreachable node from FIRST up to END; END if there is none. */
static uint32_t
next_lost(const struct mu_lost *lost, uint32_t first, uint32_t end)
{
	uint32_t i = first / MU_LOST_GROUP;
	uint64_t bits = lost->bits[i] & (~0ull << (first % MU_LOST_GROUP));

	while (bits == 0 && ++i < (end + MU_LOST_GROUP - 1) / MU_LOST_GROUP)
		bits = lost->bits[i];
	return bits == 0 ? end
			 : i * MU_LOST_GROUP + (uint32_t)__builtin_ctzll(bits);
}

/* Sum up the lost blocks of SPAN that start in WORD: there are some. */
static void
size_word(const struct sizing *sizing, const struct mu_span *span, size_t word)
{
	const struct mu_lost *lost = sizing->lost;
	uint32_t first = mu_span_rank(span, word), node;
	uint64_t bits = mu_bits_picked(*mu_span_starts(span, word),
	    mu_bits_from(
		lost->bits, first, mu_span_rank(span, word + 1) - first));
	unsigned bit = (unsigned)__builtin_ctzll(bits);

	/* Blocks follow by address, so the next number is the next block's. */
	node = mu_lost_node(lost, mu_span_number(span, word, bit));
	for (; bits != 0; bits &= bits - 1, node++) {
		bit = (unsigned)__builtin_ctzll(bits);
		sizing->add(sizing->ctx, node,
		    mu_span_end(span, word, bit) -
			(word * MU_WORD_BITS + bit) * MU_GRAIN);
	}
}

/* The same for words WORD to STOP - 1; most of them may have none. */
static void
size_words(const struct sizing *sizing, const struct mu_span *span, size_t word,
    size_t stop)
{
	uint32_t end = mu_span_rank(span, stop), node;

	while (word < stop && mu_span_rank(span, word) < end) {
		node = next_lost(sizing->lost, mu_span_rank(span, word), end);
		if (node >= end)
			return;
		while (mu_span_rank(span, word + 1) <= node)
			word++;
		size_word(sizing, span, word++);
	}
}

static void
size_listed(const struct sizing *sizing)
{
	const struct mu_lost *lost = sizing->lost;
	const struct mu_blocks *blocks = lost->graph->blocks;
	const struct mu_listed *listed = blocks->listed;
	size_t i;

	for (i = 0; i < blocks->num_listed; i++, listed++)
		if (mu_is_lost(lost, listed->number))
			sizing->add(sizing->ctx,
			    mu_lost_node(lost, listed->number),
			    mu_range_size(listed->range));
}

/* A worker takes UNIT_GROUPS words of all spans at a time. */
void
mu_lost_sizes(const struct mu_lost *lost,
    void (*add)(void *ctx, uint32_t node, size_t size), void *ctx, size_t *next,
    struct mu_deadline *deadline)
{
	const struct sizing sizing = { lost, add, ctx };
	const struct mu_blocks *blocks = lost->graph->blocks;
	const struct mu_span *span = blocks->spans;
	const struct mu_span *end = span + blocks->num_spans;
	size_t before = 0, unit, word, stop;

	while (!deadline->passed) {
		unit = __atomic_fetch_add(next, UNIT_GROUPS, __ATOMIC_RELAXED);
		while (span < end && unit >= before + span->num_words)
			before += (span++)->num_words;
		/* The first unit of work after all spans. */
		if (span == end && unit < before + UNIT_GROUPS)
			size_listed(&sizing);
		if (span == end)
			return;
		for (word = unit; word < unit + UNIT_GROUPS; word = stop) {
			while (span < end && word >= before + span->num_words)
				before += (span++)->num_words;
			if (span == end)
				break;
			stop = before + span->num_words;
			if (stop > unit + UNIT_GROUPS)
				stop = unit + UNIT_GROUPS;
			size_words(&sizing, span, word - before, stop - before);
		}
		mu_deadline_passed(deadline, UNIT_GROUPS * MU_LOST_GROUP);
	}
}

bool
mu_lost_block(const struct mu_lost *lost, uint32_t node, struct mu_block *block)
{
	return node < lost->num_blocks &&
	    mu_blocks_at(
		lost->graph->blocks, mu_lost_number(lost, node), block);
}
