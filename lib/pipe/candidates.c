#include "lib/pipe/candidates.h"

#include <string.h>

#include "heapwalk/fold/known.h"
#include "lib/pipe/pipe.h"
#include "lib/state/library.h"

#define AT_A_TIME 256 /* 4 KiB */

struct sender {
	int fd;
	struct mu_memory *memory;
	bool failed;
	size_t count;
	union {
		struct mu_range blocks[AT_A_TIME];
		uint64_t words[AT_A_TIME];
	};
};

static bool
flush(struct sender *sender, size_t item)
{
	if (sender->count > 0 &&
	    !mu_pipe_write(sender->fd, sender->blocks, sender->count * item))
		sender->failed = true;
	sender->count = 0;
	return !sender->failed;
}

static bool
send_block(void *ctx, const struct mu_block *block)
{
	struct sender *sender = ctx;

	sender->blocks[sender->count++] = block->range;
	return sender->count < AT_A_TIME ||
	    flush(sender, sizeof(*sender->blocks));
}

static bool
send_word(void *ctx, const struct mu_block *block)
{
	struct sender *sender = ctx;

	sender->words[sender->count++] =
	    mu_known_contents(sender->memory, block);
	return sender->count < AT_A_TIME ||
	    flush(sender, sizeof(*sender->words));
}

bool
mu_candidates_send(
    int fd, const struct mu_blocks *blocks, struct mu_memory *memory)
{
	struct sender sender = { .fd = fd, .memory = memory };

	mu_blocks_each_unmarked(blocks, send_block, &sender);
	if (!flush(&sender, sizeof(*sender.blocks)) || memory == NULL)
		return !sender.failed;
	mu_blocks_each_unmarked(blocks, send_word, &sender);
	return flush(&sender, sizeof(*sender.words));
}

static enum mu_status
receive_words(struct mu_image *image, size_t count)
{
	image->query.candidate_words = mu_arena_alloc(
	    &image->job.arena, count, sizeof(*image->query.candidate_words));
	if (image->query.candidate_words == NULL)
		return mu_why(&image->job.why, MU_ERR_NO_MEMORY,
		    "no memory for the first words of %zu unreachable blocks",
		    count);
	return mu_pipe_read(&image->sweeper, image->query.candidate_words,
	    count * sizeof(*image->query.candidate_words), &image->job.why);
}

enum mu_status
mu_candidates_receive(struct mu_image *image, size_t count)
{
	enum mu_status status;

	image->query.num_candidates = 0;
	image->query.candidates = mu_arena_alloc(
	    &image->job.arena, count, sizeof(*image->query.candidates));
	if (image->query.candidates == NULL)
		return mu_why(&image->job.why, MU_ERR_NO_MEMORY,
		    "no memory to keep %zu unreachable blocks for the"
		    " second look",
		    count);
	image->query.num_candidates = count;
	status = mu_pipe_read(&image->sweeper, image->query.candidates,
	    count * sizeof(*image->query.candidates), &image->job.why);
	return status == MU_OK && image->query.words
	    ? receive_words(image, count)
	    : status;
}

enum mu_status
mu_candidates_keep(struct mu_image *image, struct mu_unreachable *unreachable)
{
	size_t count = image->query.num_candidates;
	size_t size = count * sizeof(*image->query.candidates);
	size_t words = image->query.words ? count * sizeof(uint64_t) : 0;

	if (unreachable == NULL || size == 0)
		return MU_OK;
	unreachable->blocks =
	    mu_results_new_bytes(&mu_library.results, size + words);
	if (unreachable->blocks == NULL)
		return mu_why(&image->job.why, MU_ERR_NO_MEMORY,
		    "no memory for %zu unreachable blocks", count);
	memcpy(unreachable->blocks, image->query.candidates, size);
	if (words > 0)
		unreachable->words = memcpy((char *)unreachable->blocks + size,
		    image->query.candidate_words, words);
	unreachable->count = count;
	return MU_OK;
}
