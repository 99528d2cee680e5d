#include "heapwalk/heaps/blocks_reading.h"

#include "heapwalk/subject/read_buffer.h"

struct reading {
	const struct mu_blocks *blocks;
	struct mu_read_buffer buffer;
	struct mu_range there; /* what was read last */
	const char *bytes;     /* of it */
	bool (*visit)(void *ctx, const struct mu_block *block);
	void *ctx;
};

/* Read BLOCK, and as much of its span behind it as there is room for. */
static void
read_from(struct reading *reading, const struct mu_block *block)
{
	const struct mu_span *span =
	    mu_blocks_span(reading->blocks, block->range.begin);
	struct mu_range *there = &reading->there;

	*there = block->range;
	if (span != NULL && mu_range_size(*there) < MU_READ_BUFFER) {
		there->end = span->range.end;
		if (mu_range_size(*there) > MU_READ_BUFFER)
			there->end = there->begin + MU_READ_BUFFER;
	}
	reading->bytes =
	    mu_read_buffer_fill(&reading->buffer, *there, block->view);
}

static bool
read_block(void *ctx, const struct mu_block *block)
{
	struct reading *reading = ctx;
	struct mu_block copy = *block;

	if (block->range.begin < reading->there.begin ||
	    block->range.end > reading->there.end)
		read_from(reading, block);
	copy.view =
	    reading->bytes + (block->range.begin - reading->there.begin);
	return reading->visit(reading->ctx, &copy);
}

void
mu_blocks_read_each(const struct mu_blocks *blocks,
    const struct mu_snapshot *snap,
    bool (*visit)(void *ctx, const struct mu_block *block), void *ctx)
{
	struct reading reading = {
		.blocks = blocks, .visit = visit, .ctx = ctx
	};

	mu_read_buffer_open(&reading.buffer, (struct mu_memory *)&snap->memory);
	mu_blocks_each(blocks, read_block, &reading);
	mu_read_buffer_close(&reading.buffer);
}
