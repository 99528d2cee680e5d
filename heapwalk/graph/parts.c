#include "heapwalk/graph/parts.h"

#include "heapwalk/graph/reader.h"
#include "heapwalk/graph/references.h"
#include "heapwalk/heaps/spans.h"

#define WORD sizeof(uintptr_t)
#define PART MU_GRAPH_LARGE /* bytes at most */
#define ASK_FROM (1u << 20) /* bytes from which on populated() is asked */

void
mu_parts_open(struct mu_parts *parts, struct mu_memory *memory,
    struct mu_range range, size_t back)
{
	parts->memory = mu_range_size(range) >= ASK_FROM ? memory : NULL;
	parts->rest = range;
	parts->begin = range.begin;
	parts->written = (struct mu_range) { range.begin, range.begin };
	parts->back = back;
}

/* Returns false at the end. */
static bool
next_written(struct mu_parts *parts)
{
	struct mu_range rest = parts->rest, part = rest;
	size_t back = rest.begin - parts->begin;

	if (rest.begin >= rest.end)
		return false;
	if (parts->memory != NULL) {
		if (!parts->memory->ops->populated(parts->memory, rest, &part))
			return false;
		if (part.begin < rest.begin || part.end > rest.end ||
		    part.begin >= part.end)
			part = rest;
	}
	/* A word can cross from one part into an adjacent one. */
	if (part.begin == rest.begin)
		part.begin -= back < parts->back ? back : parts->back;
	parts->written = part;
	parts->rest.begin = part.end;
	return true;
}

bool
mu_parts_next(struct mu_parts *parts, struct mu_range *part)
{
	struct mu_range *written = &parts->written;

	if (written->begin >= written->end && !next_written(parts))
		return false;
	*part = *written;
	if (mu_range_size(*part) <= PART) {
		written->begin = written->end;
		return true;
	}
	part->end = part->begin + PART;
	written->begin = part->end - parts->back;
	return true;
}

static bool
add_part(struct mu_graph *graph, size_t *max, struct mu_part part)
{
	if (!mu_arena_room(
		graph->arena, graph->parts, graph->num_parts, *max, 64))
		return false;
	graph->parts[graph->num_parts++] = part;
	return true;
}

static bool
split_block(struct mu_graph *graph, size_t *max, const struct mu_block *block)
{
	struct mu_part part = { .block = block->number };
	struct mu_parts parts;

	if (mu_range_size(block->range) <= MU_GRAPH_LARGE ||
	    (block->listed != NULL && block->listed->keep))
		return true;
	mu_parts_open(&parts, graph->memory, block->range,
	    WORD -
		mu_reference_step(graph->blocks,
		    mu_reference_in_code(graph->blocks, block->range)));
	while (mu_parts_next(&parts, &part.range))
		if (!add_part(graph, max, part))
			return false;
	return true;
}

/* Only the last block of SPAN that starts in WORD can be large. */
static bool
split_last(struct mu_graph *graph, size_t *max, const struct mu_span *span,
    size_t word)
{
	struct mu_block block;

	mu_span_block(graph->blocks, span, word,
	    MU_WORD_BITS - 1 -
		(unsigned)__builtin_clzll(*mu_span_starts(span, word)),
	    &block);
	return split_block(graph, max, &block);
}

static bool
split_span(struct mu_graph *graph, size_t *max, const struct mu_span *span)
{
	size_t near = MU_GRAPH_LARGE / MU_GRAIN / MU_WORD_BITS - 1;
	size_t word, last = SIZE_MAX;

	for (word = 0; word < span->num_words; word++) {
		if (*mu_span_starts(span, word) == 0)
			continue;
		if (last != SIZE_MAX && word - last >= near &&
		    !split_last(graph, max, span, last))
			return false;
		last = word;
	}
	return last == SIZE_MAX || word - last < near ||
	    split_last(graph, max, span, last);
}

bool
mu_graph_split(struct mu_graph *graph)
{
	const struct mu_blocks *blocks = graph->blocks;
	struct mu_block block;
	size_t i, j = 0, max = 0;

	for (i = 0; i < blocks->num_listed; i++) {
		for (; j < blocks->num_spans &&
		     blocks->spans[j].range.begin <
			 blocks->listed[i].range.begin;
		     j++)
			if (!split_span(graph, &max, &blocks->spans[j]))
				return false;
		if (!mu_blocks_find(
			blocks, blocks->listed[i].range.begin, &block) ||
		    !split_block(graph, &max, &block))
			return false;
	}
	for (; j < blocks->num_spans; j++)
		if (!split_span(graph, &max, &blocks->spans[j]))
			return false;
	return true;
}
