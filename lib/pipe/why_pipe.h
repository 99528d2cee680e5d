/*
 * The format in which the sweeper sends the references to a block, and the
 * checks of the original.
 *
 * Names are not sent: the original has the mappings and threads to which the
 * records refer by number.
 */
#ifndef LIB_PIPE_WHY_PIPE_H
#define LIB_PIPE_WHY_PIPE_H

#include "heapwalk/refer/referrers.h"
#include "lib/pipe/pipe.h"
#include "lib/state/results.h"

/* The question, and its answer. */
struct mu_references {
	uintptr_t hidden; /* ~address: not a reference to the block */
	size_t total;
	/*
	 * In memory of RESULTS, with the names after the entries; NULL if none.
	 */
	struct MemunreachableReference *items;
	size_t count;
};

/* Free the answer, before another try or finally. Runs in: original. */
void mu_references_drop(struct mu_references *references);

/*
 * Send the result; after a failure only STATUS and WHY. Returns false if the
 * reader is gone. Runs in: sweeper.
 */
bool mu_why_pipe_send(int fd, enum mu_status status, const struct mu_why *why,
    const struct mu_heap *heap, const struct mu_referrers *referrers);

/* True if a sweeper can have sent HEADER. Pure. */
bool mu_why_pipe_check(const struct mu_pipe_header *header);

/*
 * Receive the result into REFERENCES and the counts of INFO. Returns the
 * sweep's status, or why it could not be received.
 *
 * Runs in: original. Uses no malloc, no errno.
 */
enum mu_status mu_why_pipe_receive(struct mu_image *image,
    struct mu_references *references, struct mu_result *result,
    struct UnreachableMemoryInfo *info);

#endif
