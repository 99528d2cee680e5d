/*
 * The blocks that a first look found unreachable, on their way to the second
 * (option confirm). They follow the answer through the pipe, each with its
 * address and usable size, and are kept in memory that is never scanned.
 */
#ifndef LIB_PIPE_CANDIDATES_H
#define LIB_PIPE_CANDIDATES_H

#include "heapwalk/heaps/blocks.h"
#include "lib/pass/pass.h"

/* False if the reader is gone. Runs in: sweeper. */
bool mu_candidates_send(int fd, const struct mu_blocks *blocks);

/*
 * COUNT of them into PASS, or why not. Runs in: original. Uses no malloc, no
 * errno.
 */
enum mu_status mu_candidates_receive(struct mu_pass *pass, size_t count);

/*
 * Pass the received blocks to the request, if it wants them. Runs in: original.
 * Uses no malloc, no errno.
 */
enum mu_status mu_candidates_keep(struct mu_pass *pass);

#endif
