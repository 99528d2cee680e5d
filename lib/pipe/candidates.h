/*
 * Send the blocks that a first look found unreachable to the original, for the
 * second look (option confirm). They follow the answer in the pipe, each with
 * its address and usable size, and are kept in memory that is not searched.
 */
#ifndef LIB_PIPE_CANDIDATES_H
#define LIB_PIPE_CANDIDATES_H

#include "heapwalk/heaps/blocks.h"
#include "lib/state/image.h"

/* Every unreachable block, in memory of mu_library.results; or NULL. */
struct mu_unreachable {
	bool with_words;         /* asked for */
	struct mu_range *blocks; /* by address */
	const uint64_t *words; /* of each block, in the same memory; or NULL */
	size_t count;
};

/*
 * MEMORY: hashes of what they contain follow (mu_known_contents()); NULL: not.
 * Returns false if the reader is gone. Runs in: sweeper.
 */
bool mu_candidates_send(
    int fd, const struct mu_blocks *blocks, struct mu_memory *memory);

/*
 * Receive COUNT of them into image->query. Runs in: original. Uses no malloc,
 * no errno.
 */
enum mu_status mu_candidates_receive(struct mu_image *image, size_t count);

/*
 * Copy the received blocks to UNREACHABLE, unless that is NULL. Runs in:
 * original.
 */
enum mu_status mu_candidates_keep(
    struct mu_image *image, struct mu_unreachable *unreachable);

#endif
