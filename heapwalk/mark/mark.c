#include "heapwalk/mark/mark.h"

#include "heapwalk/graph/reader.h"
#include "heapwalk/mark/marking.h"
#include "mu/bits.h"

/*
 * Pending nodes. If more are pending, sweeps are faster, provided there is more
 * than a sweep must find to be worth it (heapwalk/mark/marking.c): they follow
 * a node of a random graph in 5 ns, the stack in 12, also where all tables are
 * in the caches.
 */
#define MIN_DEPTH 512
#define NODES_A_PENDING 256

#define MIN_WORDS 1024 /* of links: see mark_links() */

struct confirming {
	struct mu_graph *graph;
	const struct mu_range *candidates;
	size_t count, next;
	struct mu_deadline deadline;
};

/* What a round looks for among the links, and what it found. */
struct round {
	struct mu_marking *marking;
	bool (*visit)(struct round *round, uint32_t target, uint32_t link);
	size_t count;
	size_t seen;  /* entries of graph->linkers already visited */
	size_t words; /* words that lead to otherwise unreferenced blocks */
	struct mu_deadline deadline;
};

static bool
mark_referred(struct round *round, uint32_t target, uint32_t link)
{
	struct mu_blocks *blocks = round->marking->graph->blocks;

	if (((link & MU_LINK_STALE) != 0 && !blocks->last_words) ||
	    mu_blocks_marked(blocks, target))
		return false;
	mu_marking_add(round->marking, target);
	return true;
}

/* Count, but do not mark, a block that no other reference leads to. */
static bool
note_unlinked(struct round *round, uint32_t target, uint32_t link)
{
	struct mu_blocks *blocks = round->marking->graph->blocks;

	(void)link;
	if (mu_blocks_marked(blocks, target))
		return false;
	round->words++;
	if (mu_marking_followed(blocks, target))
		return false;
	mu_marking_follow(blocks, target);
	return true;
}

static bool
forget_unlinked(struct round *round, uint32_t target, uint32_t link)
{
	struct mu_blocks *blocks = round->marking->graph->blocks;

	(void)link;
	if (!mu_blocks_marked(blocks, target))
		mu_bit_clear(blocks->followed, target);
	return false;
}

static void
visit_read(struct mu_reader *reader)
{
	struct round *round = reader->ctx;
	size_t i;

	for (i = 0; i < reader->count; i++)
		if (reader->targets[i] != MU_NO_NODE && reader->links[i] != 0)
			round->count += round->visit(
			    round, reader->targets[i], reader->links[i]);
}

static void
visit_stored(struct round *round, uint32_t cell)
{
	const uint32_t *at = &round->marking->graph->targets[cell - 1];
	uint32_t link;

	for (;; at++) {
		link = *at & MU_TARGET_LINK ? *at++ : 0;
		if (link != 0)
			round->count +=
			    round->visit(round, *at & ~MU_TARGET_LAST, link);
		if ((*at & MU_TARGET_LAST) != 0)
			return;
	}
}

static void
visit_node(struct round *round, struct mu_reader *reader, uint32_t node)
{
	const struct mu_graph *graph = round->marking->graph;
	uint32_t cell = mu_graph_cell(graph, node);

	mu_deadline_passed(&round->deadline, cell == MU_CELL_READ ? 256 : 8);
	if (!mu_marking_followed(graph->blocks, node) ||
	    !mu_blocks_marked(graph->blocks, node))
		return;
	if (cell == MU_CELL_READ)
		mu_graph_read(graph, node, reader);
	else if (cell != MU_CELL_NONE && (cell & MU_CELL_ONE) == 0)
		visit_stored(round, cell);
}

/*
 * Visit the links of followed nodes that earlier visits of this round did not
 * see; all of them if that is not known.
 */
static void
visit_links(struct round *round, bool again)
{
	struct mu_graph *graph = round->marking->graph;
	bool all = graph->num_linkers > graph->max_linkers ||
	    (graph->linkers_lost && !again);
	size_t count = all ? graph->num_nodes : graph->num_linkers;
	size_t i = all || !again ? 0 : round->seen;
	struct mu_reader reader;

	round->count = 0;
	if (i == count)
		return;
	mu_reader_open(&reader, graph, visit_read, round);
	for (; i < count && !round->deadline.passed; i++)
		visit_node(
		    round, &reader, all ? (uint32_t)i : graph->linkers[i]);
	mu_reader_flush(&reader);
	round->marking->passed |= round->deadline.passed;
	/*
	 * Remove nodes that were visited, before there is no room for others.
	 */
	if (graph->num_linkers > graph->max_linkers / 2) {
		graph->linkers_lost = true;
		graph->num_linkers = 0;
	}
	round->seen = graph->num_linkers;
}

/*
 * Judge the words that look like old links of free lists (mu_heap_ops.link()),
 * after everything else is marked: mark what those that are references refer
 * to, and return the number of blocks. This is done in rounds: first all links
 * of nodes that were followed, then those of the nodes that these led to. So
 * the number does not depend on any order.
 */
static size_t
mark_put_off(struct mu_marking *marking)
{
	struct round round = { .marking = marking,
		.visit = mark_referred,
		.deadline = { .ns = marking->deadline_ns } };
	size_t count = 0;
	bool again = false;

	do {
		mu_marking_run(marking);
		if (marking->passed)
			break;
		visit_links(&round, again);
		count += round.count;
		again = true;
	} while (round.count > 0);
	return count;
}

/*
 * A program's own reference to a block's last word sometimes looks like an old
 * link: 1 in 500, at worst 1 in 50. Of the words that malloc left behind, half
 * or more do. So if only a small part of such words look like old links, they
 * belong to the program, and all of them count; so do they if there are more of
 * them than blocks.
 */
static void
mark_links(struct mu_marking *marking)
{
	struct round round = { .marking = marking,
		.deadline = { .ns = marking->deadline_ns } };
	size_t references = mark_put_off(marking), unlinked, most;

	if (marking->passed)
		return;
	round.visit = note_unlinked;
	visit_links(&round, false);
	unlinked = round.count;
	round.visit = forget_unlinked;
	visit_links(&round, false);
	most = marking->graph->num_blocks + MIN_WORDS;
	if (marking->passed ||
	    (unlinked > references / 2 && round.words <= most))
		return;
	marking->graph->blocks->last_words = true;
	mark_put_off(marking);
}

static bool
mark_if_new(void *ctx, const struct mu_block *block)
{
	struct confirming *confirming = ctx;
	const struct mu_range *candidates = confirming->candidates;
	uintptr_t begin = block->range.begin;
	size_t i = confirming->next;

	while (i < confirming->count && candidates[i].begin < begin)
		i++;
	confirming->next = i;
	if (i == confirming->count || candidates[i].begin != begin ||
	    candidates[i].end != block->range.end) {
		mu_block_mark(block);
		confirming->graph->num_excused++;
	}
	return !mu_deadline_passed(&confirming->deadline, 1);
}

static size_t
depth_for(const struct mu_graph *graph)
{
	size_t depth = graph->num_nodes / NODES_A_PENDING;

	return depth > MIN_DEPTH ? depth : MIN_DEPTH;
}

enum mu_status
mu_mark_bounded(struct mu_graph *graph, uint64_t deadline_ns, size_t max_depth)
{
	struct mu_marking marking;

	if (!mu_marking_open(&marking, graph, max_depth, deadline_ns))
		return MU_ERR_NO_MEMORY;
	mark_links(&marking);
	return marking.passed ? MU_ERR_TIMEOUT : MU_OK;
}

enum mu_status
mu_mark(struct mu_graph *graph, uint64_t deadline_ns)
{
	return mu_mark_bounded(graph, deadline_ns, depth_for(graph));
}

enum mu_status
mu_mark_confirm(struct mu_graph *graph, const struct mu_range *candidates,
    size_t count, uint64_t deadline_ns)
{
	struct confirming confirming = { .graph = graph,
		.candidates = candidates,
		.count = count,
		.deadline = { .ns = deadline_ns } };
	struct mu_marking marking;

	if (!mu_marking_open(&marking, graph, depth_for(graph), deadline_ns))
		return MU_ERR_NO_MEMORY;
	mu_blocks_each_unmarked(graph->blocks, mark_if_new, &confirming);
	if (confirming.deadline.passed)
		return MU_ERR_TIMEOUT;
	mark_put_off(&marking);
	return marking.passed ? MU_ERR_TIMEOUT : MU_OK;
}

enum mu_status
mu_mark_on(struct mu_graph *graph, uint64_t deadline_ns)
{
	struct mu_marking marking;

	if (!mu_marking_open(&marking, graph, depth_for(graph), deadline_ns))
		return MU_ERR_NO_MEMORY;
	mark_put_off(&marking);
	return marking.passed ? MU_ERR_TIMEOUT : MU_OK;
}
