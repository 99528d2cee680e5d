/* The edges of lost nodes that are not stored: they are read from the image. */
#include "heapwalk/graph/lost.h"

#include "heapwalk/graph/encodings.h"
#include "heapwalk/graph/references.h"

void
mu_edges_read(struct mu_edges *edges)
{
	const struct mu_graph *graph = edges->lost->graph;
	uint32_t node = mu_lost_number(edges->lost, edges->node);

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
	*target = mu_lost_node(
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
	return target != edges->node && mu_is_lost(edges->lost, target);
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
		*target = mu_lost_node(edges->lost, nth.number);
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
	*target = mu_lost_node(edges->lost, to.number);
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
