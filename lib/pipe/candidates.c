#include "lib/pipe/candidates.h"

#include <string.h>

#include "lib/pipe/pipe.h"
#include "lib/state/library.h"

#define AT_A_TIME 256 /* 4 KiB */

struct sender {
	int fd;
	bool failed;
	size_t count;
	struct mu_range blocks[AT_A_TIME];
};

static void
flush(struct sender *sender)
{
	if (sender->count > 0 &&
	    !mu_pipe_write(sender->fd, sender->blocks,
		sender->count * sizeof(*sender->blocks)))
		sender->failed = true;
	sender->count = 0;
}

static bool
send_block(void *ctx, const struct mu_block *block)
{
	struct sender *sender = ctx;

	sender->blocks[sender->count++] = block->range;
	if (sender->count == AT_A_TIME)
		flush(sender);
	return !sender->failed;
}

bool
mu_candidates_send(int fd, const struct mu_blocks *blocks)
{
	struct sender sender = { .fd = fd };

	mu_blocks_each_unmarked(blocks, send_block, &sender);
	flush(&sender);
	return !sender.failed;
}

enum mu_status
mu_candidates_receive(struct mu_image *image, size_t count)
{
	image->query.num_candidates = 0;
	image->query.candidates = mu_arena_alloc(
	    &image->job.arena, count, sizeof(*image->query.candidates));
	if (image->query.candidates == NULL)
		return mu_why(&image->job.why, MU_ERR_NO_MEMORY,
		    "no memory to keep %zu unreachable blocks for the"
		    " second look",
		    count);
	image->query.num_candidates = count;
	return mu_pipe_read(&image->sweeper, image->query.candidates,
	    count * sizeof(*image->query.candidates), &image->job.why);
}

enum mu_status
mu_candidates_keep(struct mu_image *image, struct mu_unreachable *unreachable)
{
	size_t size =
	    image->query.num_candidates * sizeof(*image->query.candidates);

	if (unreachable == NULL || size == 0)
		return MU_OK;
	unreachable->blocks = mu_results_new_bytes(&mu_library.results, size);
	if (unreachable->blocks == NULL)
		return mu_why(&image->job.why, MU_ERR_NO_MEMORY,
		    "no memory for %zu unreachable blocks",
		    image->query.num_candidates);
	memcpy(unreachable->blocks, image->query.candidates, size);
	unreachable->count = image->query.num_candidates;
	return MU_OK;
}
