#include "heapwalk/fold/known.h"

#include <string.h>

#include "heapwalk/fold/contents.h"
#include "heapwalk/subject/deadline.h"

struct leaving_out {
	struct mu_memory *memory;
	const struct mu_known *known;
	size_t count, next;
	struct mu_deadline deadline;
};

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

/* A block that was freed, allocated again and lost again is a new one. */
static bool
is_same(struct mu_memory *memory, const struct mu_known *known,
    const struct mu_block *block)
{
	uint64_t word;

	if (known->range.begin != block->range.begin ||
	    known->range.end != block->range.end)
		return false;
	if (known->by == MU_KNOWN_RANGE)
		return true;
	word = mu_known_word(memory, block);
	return known->word ==
	    (known->by == MU_KNOWN_MARK ? mu_known_mark(word) : word);
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
	if (i < leaving_out->count &&
	    is_same(leaving_out->memory, &known[i], block))
		mu_block_mark(block);
	return !mu_deadline_passed(&leaving_out->deadline, 1);
}

enum mu_status
mu_known_leave_out(const struct mu_blocks *blocks, struct mu_memory *memory,
    const struct mu_known *known, size_t count, uint64_t deadline_ns)
{
	struct leaving_out leaving_out = { .memory = memory,
		.known = known,
		.count = count,
		.deadline = { .ns = deadline_ns } };

	if (count > 0)
		mu_blocks_each_unmarked(blocks, mark_if_known, &leaving_out);
	return leaving_out.deadline.passed ? MU_ERR_TIMEOUT : MU_OK;
}
