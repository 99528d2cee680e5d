/*
 * The format in which the sweeper sends leaks, and the checks of the original.
 */
#ifndef LIB_PIPE_LEAK_PIPE_H
#define LIB_PIPE_LEAK_PIPE_H

#include "heapwalk/fold/fold.h"
#include "lib/pipe/pipe.h"
#include "lib/state/results.h"

/*
 * Send the sweep's result; after a failure only STATUS and WHY. Returns false
 * if the reader is gone. Runs in: sweeper.
 */
bool mu_leak_pipe_send(int fd, enum mu_status status, const struct mu_why *why,
    const struct mu_heap *heap, const struct mu_leaks *leaks);

/* True if a sweeper can have sent HEADER for LIMIT entries. Pure. */
bool mu_leak_pipe_check(const struct mu_pipe_header *header, size_t limit);

/*
 * Receive the result into INFO, and the packed entries into result->entries, in
 * memory of RESULTS. Waits until image->job.deadline_ns and detects the death
 * of the sweeper. Returns the sweep's status, or why it could not be received.
 *
 * Runs in: original. Uses no malloc, no errno.
 */
enum mu_status mu_leak_pipe_receive(struct mu_image *image,
    struct mu_results *results, struct mu_result *result,
    struct UnreachableMemoryInfo *info);

#endif
