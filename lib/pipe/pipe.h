/*
 * Transfer from the sweeper to the original: answers, and the blocks of a first
 * look. Both ends loop over short transfers.
 */
#ifndef LIB_PIPE_PIPE_H
#define LIB_PIPE_PIPE_H

#include "heapwalk/heaps/heap.h"
#include "lib/pipe/result.h"
#include "lib/state/image.h"

/* Write all SIZE bytes; false if the reader is gone. Runs in: sweeper. */
bool mu_pipe_write(int fd, const void *data, size_t size);

/*
 * Read all SIZE bytes. On failure WHY says why. Waits until
 * sweeper->deadline_ns and detects the death of the sweeper. Runs in: original.
 */
enum mu_status mu_pipe_read(
    struct mu_sweeper *sweeper, void *data, size_t size, struct mu_why *why);

/* Set WHY and return the status for data that no sweeper sends. */
enum mu_status mu_pipe_damaged(struct mu_why *why);

#endif
