#include "heapwalk/graph/lost.h"

#include "heapwalk/graph/encodings.h"
#include "heapwalk/graph/references.h"
#include "heapwalk/heaps/spans.h"
#include "heapwalk/subject/workers.h"
#include "mu/sys.h"

#define GROUP 64 /* nodes processed together */
#define UNIT_GROUPS 256
#define PAGE_MAX ((size_t)64 << 10) /* the largest page size of Linux */
#define ALONE_SHARE 8 /* of the lost nodes have no edges: some may be alone */

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

/* Bit i: node GROUP * I + i is unreachable. */
static inline uint64_t
find_lost(const struct mu_graph *graph, size_t i)
{
	uint64_t lost = ~mu_marks_from(graph->blocks, (uint32_t)(i * GROUP));
	size_t left = graph->num_nodes - i * GROUP;

	return left < GROUP ? lost & ~(~0ull << left) : lost;
}

static size_t
num_groups(const struct mu_graph *graph)
{
	return ((size_t)graph->num_nodes + GROUP - 1) / GROUP;
}

/* The new number of NODE, which is unreachable. */
static inline uint32_t
lost_number(const struct mu_lost *lost, uint32_t node)
{
	uint64_t bits = lost->bits[node / GROUP];
	uint32_t first = lost->firsts[node / GROUP];

	if (bits == ~0ull)
		return first + node % GROUP;
	return first + mu_popcount(bits & ((1ull << (node % GROUP)) - 1));
}

/* The number of NODE in the graph. */
static uint32_t
graph_number(const struct mu_lost *lost, uint32_t node)
{
	size_t low = 0, high = num_groups(lost->graph), middle;
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
	return (uint32_t)(low * GROUP) + (uint32_t)__builtin_ctzll(bits);
}

/* Note in FIRSTS how many of BITS are set before each group. */
static uint32_t
rank(const struct mu_graph *graph, const uint64_t *bits, uint32_t *firsts)
{
	size_t i, groups = num_groups(graph);
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
	size_t i, groups = num_groups(graph);

	lost->firsts =
	    mu_arena_alloc(graph->arena, groups + 1, sizeof(*lost->firsts));
	lost->bits = graph->blocks->followed; /* which marking alone needs */
	if (lost->firsts == NULL)
		return false;
	for (i = 0; i < groups; i++)
		lost->bits[i] = find_lost(graph, i);
	lost->num_nodes = rank(graph, lost->bits, lost->firsts);
	return true;
}

static inline bool
is_lost(const struct mu_lost *lost, uint32_t node)
{
	return mu_bit(lost->bits, node);
}

/*
 * Read the edge at *AT, and move behind it; LAST: it is the last of its node.
 * Returns true if it leads to a lost node.
 */
static inline bool
read_edge(const struct mu_lost *lost, const uint32_t **at, uint32_t *target,
    bool *last)
{
	bool counts = true;

	if ((**at & MU_TARGET_LINK) != 0)
		counts = (*(*at)++ & MU_LINK_STALE) == 0 ||
		    lost->graph->blocks->last_words;
	*target = **at & ~MU_TARGET_LAST;
	*last = (*(*at)++ & MU_TARGET_LAST) != 0;
	return counts && is_lost(lost, *target);
}

/* Set the bits of NODE and of those that it leads to, if it leads to any. */
static inline void
join_targets(const struct mu_lost *lost, uint32_t node, uint64_t *joined)
{
	uint32_t cell = lost->cells[node], target;
	const uint32_t *at;
	bool last = false;

	if (cell == MU_CELL_NONE)
		return;
	if ((cell & MU_CELL_ONE) != 0) {
		target = cell & ~MU_CELL_ONE;
		if (!is_lost(lost, target))
			return;
		mu_bit_set(joined, target);
		mu_bit_set(joined, node);
		return;
	}
	for (at = &lost->graph->targets[cell - 1]; !last;) {
		if (!read_edge(lost, &at, &target, &last))
			continue;
		mu_bit_set(joined, target);
		mu_bit_set(joined, node);
	}
}

/* The lost nodes without any edges; those that others lead to are included. */
static size_t
count_ends(const struct mu_lost *lost)
{
	size_t i, groups = num_groups(lost->graph), count = 0;
	uint64_t bits;

	for (i = 0; i < groups; i++)
		for (bits = lost->bits[i]; bits != 0; bits &= bits - 1)
			count +=
			    lost->cells[i * GROUP +
				(size_t)__builtin_ctzll(bits)] == MU_CELL_NONE;
	return count;
}

/* Room for the bits and the ranks of what is alone; false without it. */
static bool
make_room(struct mu_lost *lost)
{
	struct mu_arena *arena = lost->graph->arena;
	size_t groups = num_groups(lost->graph), refused = arena->refused;

	lost->alone = mu_arena_alloc(arena, groups, sizeof(*lost->alone));
	lost->alone_ranks =
	    mu_arena_alloc(arena, groups + 1, sizeof(*lost->alone_ranks));
	arena->refused = refused;
	if (lost->alone_ranks == NULL)
		lost->alone = NULL;
	return lost->alone != NULL;
}

/*
 * Take the blocks that are alone out of the lost nodes, if that is worth it. A
 * recorder puts its blocks into groups by component.
 */
static void
set_apart(struct mu_lost *lost, struct mu_deadline *deadline)
{
	const struct mu_graph *graph = lost->graph;
	size_t i, groups = num_groups(graph);
	uint64_t bits, joined;

	if (lost->cells == NULL || graph->reads ||
	    graph->blocks->recorder != NULL ||
	    count_ends(lost) <= lost->num_nodes / ALONE_SHARE ||
	    !make_room(lost))
		return;
	for (i = 0; i < groups; i++)
		for (bits = lost->bits[i]; bits != 0; bits &= bits - 1)
			join_targets(lost,
			    (uint32_t)(i * GROUP) +
				(uint32_t)__builtin_ctzll(bits),
			    lost->alone);
	/* Parts of a block that is left out are no blocks. */
	for (i = graph->num_blocks; i < graph->num_nodes; i++)
		mu_bit_set(lost->alone, i);
	for (i = 0; i < groups; i++) {
		joined = lost->alone[i];
		lost->alone[i] = lost->bits[i] & ~joined;
		lost->bits[i] &= joined;
	}
	mu_deadline_passed(deadline, graph->num_nodes);
	lost->num_nodes = rank(graph, lost->bits, lost->firsts);
	lost->num_alone = rank(graph, lost->alone, lost->alone_ranks);
	if (lost->num_alone == 0)
		lost->alone = NULL;
}

/* Note that FROM leads to TO; another worker may do the same for TO. */
static inline void
note_parent(const struct mu_lost *lost, uint32_t from, uint32_t to)
{
	uint32_t *parent = &lost->parents[to];
	uint32_t known = __atomic_load_n(parent, __ATOMIC_RELAXED);

	if (known == MU_PARENT_NONE &&
	    __atomic_compare_exchange_n(parent, &known, 1 + from, false,
		__ATOMIC_RELAXED, __ATOMIC_RELAXED))
		return;
	if (known != MU_PARENT_MANY && known != 1 + from)
		__atomic_store_n(parent, MU_PARENT_MANY, __ATOMIC_RELAXED);
}

static void
note_read_parents(
    const struct mu_lost *lost, uint32_t node, struct mu_deadline *deadline)
{
	struct mu_edges edges;
	uint32_t target;

	mu_edges_open(&edges, lost, node, mu_edges_first(lost, node), deadline);
	while (mu_edges_next(&edges, &target))
		note_parent(lost, node, target);
}

/* Drop edges to reachable nodes from the list at PLACE. */
static uint32_t
translate_list(struct mu_lost *lost, uint32_t index)
{
	uint32_t *first = &lost->graph->targets[index], *out = first;
	const uint32_t *at = first;
	bool last = false;
	uint32_t target;

	while (!last) {
		if (!read_edge(lost, &at, &target, &last))
			continue;
		*out = lost_number(lost, target);
		__builtin_prefetch(&lost->parents[*out++], 1);
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
	if (is_lost(lost, target)) {
		target = lost_number(lost, target);
		lost->cells[node] = MU_CELL_ONE | target;
		__builtin_prefetch(&lost->parents[target], 1);
	}
}

/* Note NODE, now NUMBER, as a parent of its targets. */
static inline void
note_parents(const struct mu_lost *lost, uint32_t node, uint32_t number)
{
	const uint32_t *at;
	uint32_t one;

	if (lost->cells[node] == MU_CELL_READ)
		return;
	at = mu_edges_stored(lost, node, &one);
	if (at == NULL)
		return;
	for (; (*at & MU_TARGET_LAST) == 0; at++)
		note_parent(lost, number, *at);
	note_parent(lost, number, *at & ~MU_TARGET_LAST);
}

/* Translate GROUP nodes, so that reads of their targets overlap. */
static void
translate_group(struct mu_lost *lost, size_t i)
{
	uint32_t first = (uint32_t)(i * GROUP), number = lost->firsts[i];
	uint64_t bits;

	for (bits = lost->bits[i]; bits != 0; bits &= bits - 1)
		translate(lost, first + (uint32_t)__builtin_ctzll(bits));
	for (bits = lost->bits[i]; bits != 0; bits &= bits - 1)
		note_parents(
		    lost, first + (uint32_t)__builtin_ctzll(bits), number++);
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
	mu_deadline_passed(deadline, UNIT_GROUPS * GROUP);
	return *i < count && !__atomic_load_n(&opening->late, __ATOMIC_RELAXED);
}

static void
translate_some(void *ctx, unsigned worker)
{
	struct opening *opening = ctx;
	struct mu_lost *lost = opening->lost;
	struct mu_deadline deadline = { .ns = opening->deadline_ns };
	size_t i, end, groups = num_groups(lost->graph);

	(void)worker;
	while (take(opening, &deadline, groups, &i, &end))
		for (; i < end; i++)
			translate_group(lost, i);
}

/* Move each cell to its new number. */
static void
compact(struct mu_lost *lost)
{
	size_t i, groups = num_groups(lost->graph);
	uint32_t number;
	uint64_t bits;

	for (i = 0; i < groups; i++) {
		number = lost->firsts[i];
		bits = number == i * GROUP && ~lost->bits[i] == 0
		    ? 0
		    : lost->bits[i];
		for (; bits != 0; bits &= bits - 1)
			lost->cells[number++] = lost->cells[i * GROUP +
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

/* Parents of edges that are not stored. */
static void
read_some(void *ctx, unsigned worker)
{
	struct opening *opening = ctx;
	struct mu_lost *lost = opening->lost;
	struct mu_deadline deadline = { .ns = opening->deadline_ns };
	size_t i, end;

	(void)worker;
	while (take(opening, &deadline, lost->num_nodes, &i, &end))
		for (; i < end && !deadline.passed; i++)
			if (mu_lost_cell(lost, (uint32_t)i) == MU_CELL_READ)
				note_read_parents(lost, (uint32_t)i, &deadline);
	if (deadline.passed)
		__atomic_store_n(&opening->late, true, __ATOMIC_RELAXED);
}

/* Returns false if the time is over. */
static bool
fill(struct mu_lost *lost, struct mu_deadline *deadline)
{
	struct mu_workers *workers = lost->graph->blocks->workers;
	unsigned count = 1 + lost->num_nodes / (UNIT_GROUPS * GROUP);
	struct opening opening = { .lost = lost, .deadline_ns = deadline->ns };

	if (lost->cells != NULL) {
		mu_workers_run(workers, count, translate_some, &opening);
		compact(lost);
		give_back(lost);
	}
	opening.next = 0;
	if (lost->graph->reads)
		mu_workers_run(workers, count, read_some, &opening);
	deadline->passed |= opening.late;
	return !deadline->passed;
}

enum mu_status
mu_lost_open(
    struct mu_lost *lost, struct mu_graph *graph, struct mu_deadline *deadline)
{
	*lost = (struct mu_lost) { .graph = graph, .cells = graph->cells };
	if (!number_lost(lost))
		return MU_ERR_NO_MEMORY;
	set_apart(lost, deadline);
	if (lost->num_nodes > MU_LOST_MAX_NODES)
		return MU_ERR_NO_MEMORY;
	lost->num_blocks = graph->num_blocks < graph->num_nodes
	    ? lost_number(lost, graph->num_blocks)
	    : lost->num_nodes;
	lost->parents = mu_arena_alloc_table(
	    graph->arena, lost->num_nodes, sizeof(*lost->parents));
	if (lost->parents == NULL)
		return MU_ERR_NO_MEMORY;
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

/* Bit i: node FIRST + i is unreachable; at least the next COUNT of them. */
static inline uint64_t
lost_from(const struct mu_lost *lost, uint32_t first, uint32_t count)
{
	uint32_t shift = first % GROUP;
	uint64_t bits = lost->bits[first / GROUP] >> shift;

	if (shift + count > GROUP)
		bits |= lost->bits[first / GROUP + 1] << (GROUP - shift);
	return bits;
}

/* The first unreachable node from FIRST up to END; END if there is none. */
static uint32_t
next_lost(const struct mu_lost *lost, uint32_t first, uint32_t end)
{
	uint32_t i = first / GROUP;
	uint64_t bits = lost->bits[i] & (~0ull << (first % GROUP));

	while (bits == 0 && ++i < (end + GROUP - 1) / GROUP)
		bits = lost->bits[i];
	return bits == 0 ? end : i * GROUP + (uint32_t)__builtin_ctzll(bits);
}

/* Sum up the lost blocks of SPAN that start in WORD: there are some. */
static void
size_word(const struct sizing *sizing, const struct mu_span *span, size_t word)
{
	const struct mu_lost *lost = sizing->lost;
	uint32_t first = mu_span_rank(span, word), node;
	uint64_t bits = mu_bits_picked(*mu_span_starts(span, word),
	    lost_from(lost, first, mu_span_rank(span, word + 1) - first));
	unsigned bit = (unsigned)__builtin_ctzll(bits);

	/* Blocks follow by address, so the next number is the next block's. */
	node = lost_number(lost, mu_span_number(span, word, bit));
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
		if (is_lost(lost, listed->number))
			sizing->add(sizing->ctx,
			    lost_number(lost, listed->number),
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
		mu_deadline_passed(deadline, UNIT_GROUPS * GROUP);
	}
}

uint32_t
mu_lost_node(const struct mu_lost *lost, uint32_t number)
{
	return lost_number(lost, number);
}

uint32_t
mu_lost_alone_rank(const struct mu_lost *lost, uint32_t number)
{
	uint64_t before =
	    lost->alone[number / GROUP] & ((1ull << (number % GROUP)) - 1);

	return lost->alone_ranks[number / GROUP] + mu_popcount(before);
}

struct visiting {
	const struct mu_lost *lost;
	bool (*visit)(void *ctx, const struct mu_block *block);
	void *ctx;
};

static bool
visit_alone(void *ctx, const struct mu_block *block)
{
	const struct visiting *visiting = ctx;

	return !mu_bit(visiting->lost->alone, block->number) ||
	    visiting->visit(visiting->ctx, block);
}

void
mu_lost_each_alone(const struct mu_lost *lost,
    bool (*visit)(void *ctx, const struct mu_block *block), void *ctx)
{
	struct visiting visiting = { lost, visit, ctx };

	if (lost->alone != NULL)
		mu_blocks_each_unmarked(
		    lost->graph->blocks, visit_alone, &visiting);
}

uint32_t
mu_lost_place(const struct mu_lost *lost, uint32_t node)
{
	return lost->alone == NULL ? node : graph_number(lost, node);
}

uint32_t
mu_lost_at(const struct mu_lost *lost, uint32_t place)
{
	if (lost->alone == NULL)
		return place;
	return mu_bit(lost->alone, place) ? MU_NO_NODE
					  : lost_number(lost, place);
}

bool
mu_lost_block(const struct mu_lost *lost, uint32_t node, struct mu_block *block)
{
	return node < lost->num_blocks &&
	    mu_blocks_at(lost->graph->blocks, graph_number(lost, node), block);
}

void
mu_edges_read(struct mu_edges *edges)
{
	const struct mu_graph *graph = edges->lost->graph;
	uint32_t node = graph_number(edges->lost, edges->node);

	/* A large block has parts instead of words. */
	if (!mu_graph_bytes(graph, node, &edges->bytes))
		edges->bytes.view = NULL;
	edges->node = node;
}

/* The next part of the large block. */
static bool
read_part(struct mu_edges *edges, uint32_t *target)
{
	const struct mu_graph *graph = edges->lost->graph;
	size_t first, count = mu_graph_parts(graph, edges->node, &first);

	if (edges->at > count)
		return false;
	*target = lost_number(
	    edges->lost, graph->num_blocks + (uint32_t)first + edges->at++ - 1);
	return true;
}

struct nth {
	const struct mu_block *block;
	size_t skip;
	uint32_t number;
};

static void
note_nth(void *ctx, uintptr_t at, const struct mu_block *to)
{
	struct nth *nth = ctx;

	(void)at;
	if (nth->skip-- == 0)
		nth->number = to->number;
}

/* Check TARGET, numbered as in the graph, like edges->node: see graph.h. */
static inline bool
counts(const struct mu_edges *edges, uint32_t target)
{
	return target != edges->node && is_lost(edges->lost, target);
}

/*
 * After the words, the references of heapwalk/graph/encodings.h follow one by
 * one.
 */
static bool
read_encoded(struct mu_edges *edges, uint32_t *target)
{
	const struct mu_graph *graph = edges->lost->graph;
	size_t size = mu_range_size(edges->bytes.range);
	struct nth nth;
	struct mu_block block;

	if (size != MU_ENCODED_SIZE || !graph->blocks->encodings ||
	    edges->node >= graph->num_blocks ||
	    !mu_blocks_at(graph->blocks, edges->node, &block))
		return false;
	for (;;) {
		nth = (struct nth) { .skip = edges->at++ - 1 - size,
			.number = MU_NO_NODE };
		mu_encodings_each(graph->blocks, &block, note_nth, &nth);
		if (nth.number == MU_NO_NODE)
			return false;
		if (!counts(edges, nth.number))
			continue;
		*target = lost_number(edges->lost, nth.number);
		return true;
	}
}

/* True if WORD at AT leads to an unreachable block. */
static bool
leads(const struct mu_edges *edges, uintptr_t at, uintptr_t word,
    uint32_t *target)
{
	const struct mu_blocks *blocks = edges->lost->graph->blocks;
	struct mu_block to;

	if (!mu_range_has(blocks->envelope, mu_reference_untag(blocks, word)) ||
	    !mu_reference_find(blocks, at, word, &to) ||
	    !counts(edges, to.number))
		return false;
	*target = lost_number(edges->lost, to.number);
	return true;
}

bool
mu_edges_read_next(struct mu_edges *edges, uint32_t *target)
{
	const struct mu_blocks *blocks = edges->lost->graph->blocks;
	struct mu_range range = edges->bytes.range;
	bool code = edges->bytes.of == MU_WORDS_BLOCK_CODE;
	uintptr_t word, at;

	if (edges->bytes.view == NULL)
		return read_part(edges, target);
	while (edges->at <= mu_range_size(range)) {
		at = mu_reference_first(
		    blocks, code, range.begin + (edges->at - 1));
		if (!mu_reference_word(
			range, edges->bytes.view, code, at, &word)) {
			edges->at = (uint32_t)mu_range_size(range) + 1;
			break;
		}
		edges->at = (uint32_t)(at - range.begin +
				mu_reference_step(blocks, code)) +
		    1;
		if (leads(edges, at, word, target) ||
		    (code && leads(edges, 0, word & UINT32_MAX, target)))
			return true;
		mu_deadline_passed(edges->deadline, 2);
	}
	return read_encoded(edges, target);
}
