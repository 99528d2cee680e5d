#include "heapwalk/fold/first_words.h"

#include <string.h>

#include "heapwalk/graph/references.h"

#define ROOM_EACH 8 /* words of a block on average; more are not kept */
#define ALWAYS 3    /* words that may be a tag and text */

struct reading {
	struct mu_first_words *first;
	struct mu_deadline *deadline;
};

void
mu_first_words_read(struct mu_memory *memory, struct mu_range range,
    const char *view, struct mu_words *words)
{
	size_t size = mu_range_size(range);

	if (size > sizeof(words->at))
		size = sizeof(words->at);
	if (memory != NULL && memory->ops != NULL && memory->ops->peek != NULL)
		view = memory->ops->peek(memory, range.begin, size, words->at);
	words->count = view == NULL ? 0 : size / sizeof(uintptr_t);
	if (view != NULL && view != (const char *)words->at)
		memcpy(words->at, view, size);
}

/* True for what may be a pointer to a block, or to its end. */
static bool
may_point(const struct mu_blocks *blocks, uintptr_t word)
{
	return word >= blocks->envelope.begin && word <= blocks->envelope.end;
}

static bool
is_kept(const struct mu_blocks *blocks, size_t index, uintptr_t word)
{
	return index < ALWAYS || may_point(blocks, word) ||
	    may_point(blocks, mu_reference_untag(blocks, word));
}

/* Keep what counts of WORDS, for which there is room. */
static void
keep(struct mu_first_words *first, const struct mu_words *words)
{
	uint64_t *kept = &first->words[first->count++];
	bool others = false;
	size_t i;

	for (i = 0; i < words->count; i++) {
		if (words->at[i] == 0)
			continue;
		if (!is_kept(first->lost->graph->blocks, i, words->at[i])) {
			if (others)
				continue;
			others = true;
		}
		*kept |= 1ull << i;
		first->words[first->count++] = words->at[i];
	}
}

static bool
read_block(void *ctx, const struct mu_block *block)
{
	const struct reading *reading = ctx;
	struct mu_first_words *first = reading->first;
	struct mu_words words;

	if (!mu_is_lost(first->lost, block->number))
		return true;
	if (first->max - first->count <= MU_FIRST_WORDS ||
	    mu_deadline_passed(reading->deadline, 16))
		return false;
	mu_first_words_read(
	    first->lost->graph->memory, block->range, block->view, &words);
	if (words.count > 0) {
		first->at[mu_lost_node(first->lost, block->number)] =
		    (uint32_t)(1 + first->count);
		keep(first, &words);
	}
	return true;
}

void
mu_first_words_open(struct mu_first_words *first, const struct mu_lost *lost,
    size_t limit, struct mu_deadline *deadline)
{
	struct reading reading = { first, deadline };
	size_t most = limit / 2 / sizeof(*first->words);

	*first = (struct mu_first_words) { .lost = lost };
	mu_arena_open(&first->arena, limit);
	first->max = ROOM_EACH * (size_t)lost->num_nodes;
	if (first->max > most)
		first->max = most;
	if (first->max > UINT32_MAX)
		first->max = UINT32_MAX;
	first->words = mu_arena_alloc_table(
	    &first->arena, first->max, sizeof(*first->words));
	if (first->words != NULL)
		first->at = mu_arena_alloc_table(
		    &first->arena, lost->num_nodes, sizeof(*first->at));
	if (first->at != NULL)
		mu_blocks_each_unmarked(
		    lost->graph->blocks, read_block, &reading);
}

bool
mu_first_words_get(const struct mu_first_words *first,
    const struct mu_block *block, struct mu_words *words)
{
	size_t size = mu_range_size(block->range);
	const uint64_t *from;
	uint64_t kept;
	uint32_t at;

	if (first->at == NULL || !mu_is_lost(first->lost, block->number))
		return false;
	at = first->at[mu_lost_node(first->lost, block->number)];
	if (at == 0)
		return false;
	if (size > sizeof(words->at))
		size = sizeof(words->at);
	words->count = size / sizeof(uintptr_t);
	memset(words->at, 0, size);
	from = &first->words[at - 1];
	for (kept = *from++; kept != 0; kept &= kept - 1)
		words->at[__builtin_ctzll(kept)] = *from++;
	return true;
}

void
mu_first_words_close(struct mu_first_words *first)
{
	mu_arena_close(&first->arena);
	first->at = NULL;
}
