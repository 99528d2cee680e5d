#include "heapwalk/fold/known.h"

#include <string.h>

#include "heapwalk/fold/contents.h"
#include "heapwalk/recorded/recorded.h"
#include "heapwalk/subject/deadline.h"

#define FRAMES ((size_t)64) /* that are compared */

struct leaving_out {
	struct mu_memory *memory;
	const struct mu_recorder *recorder;
	const struct mu_known *known;
	size_t count, next;
	bool whole; /* compare more than the first word */
	struct mu_deadline deadline;
};

/* Of two hashes in a word, that of the first word. */
static uint64_t
upper(uint64_t hash)
{
	return hash & ~(uint64_t)UINT32_MAX;
}

#define FNV_BASIS 0xcbf29ce484222325ull /* FNV-1a, by words */
#define FNV_PRIME 0x100000001b3ull

uint64_t
mu_known_contents(struct mu_memory *memory, const struct mu_block *block)
{
	uint64_t words[MU_LEAK_CONTENTS / sizeof(uint64_t)] = { 0 };
	uint64_t hash = FNV_BASIS;
	size_t i;

	mu_contents_copy(memory, block->range.begin, block->view,
	    mu_range_size(block->range), (unsigned char *)words);
	for (i = 0; i < sizeof(words) / sizeof(*words); i++)
		hash = (hash ^ words[i]) * FNV_PRIME;
	return upper((FNV_BASIS ^ words[0]) * FNV_PRIME) | hash >> 32;
}

uint64_t
mu_known_word(struct mu_memory *memory, const struct mu_block *block)
{
	unsigned char first[MU_LEAK_CONTENTS] = { 0 };
	uint64_t word;

	mu_contents_copy(memory, block->range.begin, block->view,
	    mu_range_size(block->range), first);
	memcpy(&word, first, sizeof(word));
	return word;
}

uint32_t
mu_known_stack(const struct mu_recorder *recorder, struct mu_range block)
{
	uint64_t hash = FNV_BASIS;
	struct mu_recorded_block found;
	uintptr_t frames[FRAMES];
	size_t i, count;

	if (recorder == NULL || !mu_recorder_find(recorder, block, &found))
		return 0;
	count = mu_recorder_stack(recorder, found.stack, frames, FRAMES);
	for (i = 0; i < count; i++)
		hash = (hash ^ frames[i]) * FNV_PRIME;
	return count == 0 ? 0 : (uint32_t)(hash >> 32 ^ hash) | 1;
}

static bool
is_same_word(const struct leaving_out *leaving_out,
    const struct mu_known *known, const struct mu_block *block)
{
	uint64_t word;

	if (known->by == MU_KNOWN_CONTENTS) {
		word = mu_known_contents(leaving_out->memory, block);
		return leaving_out->whole ? known->word == word
					  : upper(known->word) == upper(word);
	}
	word = mu_known_word(leaving_out->memory, block);
	return known->word ==
	    (known->by == MU_KNOWN_MARK ? mu_known_mark(word) : word);
}

/* A block that was freed, allocated again and lost again is a new one. */
static bool
is_same(const struct leaving_out *leaving_out, const struct mu_known *known,
    const struct mu_block *block)
{
	uint32_t stack;

	if (known->range.begin != block->range.begin ||
	    known->range.end != block->range.end)
		return false;
	if (known->by == MU_KNOWN_RANGE)
		return true;
	if (!is_same_word(leaving_out, known, block))
		return false;
	stack = known->stack == 0
	    ? 0
	    : mu_known_stack(leaving_out->recorder, block->range);
	return stack == 0 || stack == known->stack;
}

static bool
mark_if_known(void *ctx, const struct mu_block *block)
{
	struct leaving_out *leaving_out = ctx;
	const struct mu_known *known = leaving_out->known;
	size_t i = leaving_out->next;

	while (
	    i < leaving_out->count && known[i].range.begin < block->range.begin)
		i++;
	leaving_out->next = i;
	if (i < leaving_out->count && is_same(leaving_out, &known[i], block))
		mu_block_mark(block);
	return !mu_deadline_passed(&leaving_out->deadline, 1);
}

enum mu_status
mu_known_leave_out(const struct mu_blocks *blocks, struct mu_memory *memory,
    const struct mu_known *known, size_t count, uint64_t deadline_ns)
{
	struct leaving_out leaving_out = { .memory = memory,
		.recorder = blocks->recorder,
		.known = known,
		.count = count,
		.deadline = { .ns = deadline_ns } };

	if (count > 0)
		mu_blocks_each_unmarked(blocks, mark_if_known, &leaving_out);
	return leaving_out.deadline.passed ? MU_ERR_TIMEOUT : MU_OK;
}

enum mu_status
mu_known_unmark(const struct mu_blocks *blocks, struct mu_memory *memory,
    const struct mu_known *known, size_t count, uint64_t deadline_ns)
{
	struct leaving_out keeping = { .memory = memory,
		.whole = true,
		.recorder = blocks->recorder,
		.deadline = { .ns = deadline_ns } };
	struct mu_block block;
	size_t i;

	for (i = 0; i < count; i++) {
		if (mu_blocks_find(blocks, known[i].range.begin, &block) &&
		    is_same(&keeping, &known[i], &block))
			*block.mark = 0;
		if (mu_deadline_passed(&keeping.deadline, 1))
			return MU_ERR_TIMEOUT;
	}
	return MU_OK;
}
