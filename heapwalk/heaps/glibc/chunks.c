#include "heapwalk/heaps/glibc/chunks.h"

#include "heapwalk/heaps/glibc/parts.h"
#include "heapwalk/heaps/glibc/tcache.h"
#include "heapwalk/heaps/spans.h"

static enum mu_status
broken(const struct mu_glibc_walk *walk, const struct mu_glibc_chain *chain,
    size_t at, const char *rule)
{
	return mu_why(walk->why, MU_ERR_HEAP_INCONSISTENT,
	    "arena %p, chunk %p: %s (size word 0x%lx)",
	    (void *)walk->glibc.arenas[chain->arena],
	    (void *)(chain->limit.begin + at), rule,
	    (unsigned long)mu_glibc_word(chain->view, at + MU_GLIBC_SIZE));
}

static const char *
top_rule(struct mu_glibc_chain *chain)
{
	uintptr_t word = mu_glibc_word(
	    chain->view, chain->top - chain->limit.begin + MU_GLIBC_SIZE);
	size_t size = word & ~(uintptr_t)MU_SIZE_FLAGS;

	if ((word & (MU_GLIBC_BAD_BITS | MU_PREV_INUSE)) != MU_PREV_INUSE ||
	    size < MU_GLIBC_HEADER || size > chain->limit.end - chain->top)
		return "impossible size of top";
	if (!chain->main && size != chain->limit.end - chain->top)
		return "top does not end where its heap does";
	chain->end = chain->top + size;
	return NULL;
}

/*
 * Check what can be checked before the walk. Returns the rule that the chunk at
 * AT breaks, or NULL.
 */
static const char *
open_rule(struct mu_glibc_chain *chain, size_t *at)
{
	const char *rule;

	*at = 0;
	chain->end = chain->limit.end;
	if (chain->top != 0) {
		rule = top_rule(chain);
		*at = chain->top - chain->limit.begin;
		if (rule != NULL)
			return rule;
		*at = 0;
	}
	if (chain->limit.begin != chain->top &&
	    (mu_glibc_word(chain->view, MU_GLIBC_SIZE) & MU_PREV_INUSE) == 0)
		return "the first chunk says that one before it is free";
	return NULL;
}

void
mu_glibc_rules_open(struct mu_glibc_rules *rules,
    const struct mu_glibc_walk *walk, const struct mu_glibc_chain *chain,
    struct mu_glibc_near *near, struct mu_read_buffer *buffer)
{
	const struct mu_glibc_layout *layout = walk->glibc.layout;

	*near = (struct mu_glibc_near) {
		.buffer = buffer,
		.view = chain->view,
		.end = buffer->bytes == NULL ? SIZE_MAX : 0,
	};
	*rules = (struct mu_glibc_rules) {
		.view = chain->view,
		.near = near,
		.notes = chain->notes == MU_GLIBC_NO_NOTES
		    ? NULL
		    : &walk->notes.stretches[chain->notes],
		.group = buffer->bytes != NULL ? 0
		    : walk->snap->memory.fresh ? MU_GLIBC_FETCHED
					       : 8 * MU_GLIBC_FETCHED,
		.fast = layout->arena_fastbins != 0,
		.safe_linking = layout->safe_linking,
		.limit = chain->limit,
		.end = chain->end - chain->limit.begin,
		.top = chain->top != 0 ? chain->top - chain->limit.begin
				       : MU_GLIBC_NO_TOP,
		.main = chain->main,
		.page_size = walk->snap->memory.page_size,
		.flags = chain->main ? 0 : MU_NON_MAIN_ARENA,
		.tcache = mu_glibc_tcache_chunk(walk),
		.excess = mu_glibc_tcache_excess(walk),
	};
}

/*
 * Blocks of a tcache's size have both bits set: record their addresses, and
 * keep only the start bit.
 */
static void
collect_candidates(
    struct mu_glibc_walk *walk, struct mu_span *span, size_t count)
{
	uint64_t both;
	size_t word;

	for (word = 0; count > 0 && word < span->num_words; word++) {
		both = *mu_span_starts(span, word) & *mu_span_marks(span, word);
		*mu_span_marks(span, word) &= ~both;
		for (; both != 0; both &= both - 1, count--)
			mu_glibc_orphan_add(walk,
			    span->range.begin +
				(word * MU_WORD_BITS +
				    (size_t)__builtin_ctzll(both)) *
				    MU_GRAIN);
	}
}

/* STEP has reached the end of the chain: set its results. */
static void
close_chain(struct mu_glibc_walk *walk, struct mu_glibc_chain *chain,
    const struct mu_glibc_step *step)
{
	struct mu_span *span = step->span;

	chain->end = chain->limit.begin + step->end;
	mu_span_begin(span, (step->at + MU_GLIBC_HEADER) / MU_GRAIN, 0, 0);
	span->tail = MU_GLIBC_TAIL;
	span->range.end = chain->end;
	span->num_words =
	    (chain->end - chain->limit.begin) / MU_GRAIN / MU_WORD_BITS + 1;
	span->count = step->count;
	span->bytes = step->bytes;
	/*
	 * The walk went from chunk to chunk and ended at top or at a fencepost.
	 */
	span->free = step->at - step->bytes - step->count * MU_GLIBC_SIZE;
	if (chain->top == chain->limit.begin + step->at)
		span->top = step->end - step->at;
	span->owner = chain->arena;
	span->heap = walk->member;
	walk->num_free[chain->arena] += step->num_free;
	collect_candidates(walk, span, step->num_candidates);
}

static enum mu_status
walk_chain(struct mu_glibc_walk *walk, struct mu_glibc_chain *chain,
    struct mu_glibc_parts *parts, struct mu_read_buffer *buffer)
{
	struct mu_glibc_rules rules;
	struct mu_glibc_near near;
	struct mu_glibc_step step = { .rules = &rules,
		.span = &walk->heap->blocks.spans[chain->span] };
	const char *rule;
	size_t at;

	rule = open_rule(chain, &at);
	if (rule != NULL)
		return broken(walk, chain, at, rule);
	mu_glibc_rules_open(&rules, walk, chain, &near, buffer);
	rule = mu_glibc_parts_join(parts, chain, &step);
	if (rule != NULL)
		return broken(walk, chain, step.at, rule);
	close_chain(walk, chain, &step);
	return MU_OK;
}

/* Add the chain's span, and room for notes if memory is read in pieces. */
static bool
open_chain(struct mu_glibc_walk *walk, struct mu_glibc_chain *chain, bool notes)
{
	chain->span = walk->heap->blocks.num_spans;
	chain->notes = notes ? mu_glibc_notes_add(&walk->notes, chain->limit)
			     : MU_GLIBC_NO_NOTES;
	return mu_blocks_add_span(
		   &walk->heap->blocks, chain->limit, chain->view) != NULL;
}

enum mu_status
mu_glibc_chains_walk(
    struct mu_glibc_walk *walk, struct mu_glibc_chain *chains, size_t count)
{
	struct mu_read_buffer buffer;
	struct mu_glibc_parts parts;
	enum mu_status status = MU_OK;
	size_t i, at;

	mu_read_buffer_open(&buffer, (struct mu_memory *)&walk->snap->memory);
	mu_glibc_parts_open(&parts);
	for (i = 0; status == MU_OK && i < count; i++) {
		if (!open_chain(walk, &chains[i], buffer.bytes != NULL))
			status = mu_glibc_no_memory(walk);
		else if (open_rule(&chains[i], &at) == NULL)
			mu_glibc_parts_add(&parts, walk, &chains[i]);
	}
	if (status == MU_OK)
		mu_glibc_parts_walk(&parts, walk);
	for (i = 0; status == MU_OK && i < count; i++)
		status = walk_chain(walk, &chains[i], &parts, &buffer);
	mu_read_buffer_close(&buffer);
	return status;
}
