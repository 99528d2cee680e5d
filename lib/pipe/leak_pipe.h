/*
 * The format in which the sweeper sends leaks, and the checks of the original.
 *
 * Built like a file format: magic, version, sizes and counts come first, and
 * each is checked before anything is allocated. Both ends loop over short
 * transfers.
 */
#ifndef LIB_PIPE_LEAK_PIPE_H
#define LIB_PIPE_LEAK_PIPE_H

#include "heapwalk/fold/fold.h"
#include "heapwalk/heaps/heap.h"
#include "lib/pipe/result.h"
#include "lib/state/image.h"
#include "lib/state/results.h"

#define MU_PIPE_MAGIC 0x656c62616863726eull /* "nrchable" */
#define MU_PIPE_VERSION 7

struct mu_pipe_header {
	uint64_t magic;
	uint32_t version;
	uint32_t header_size; /* bytes */
	uint32_t status;      /* enum mu_status of the sweep */
	uint32_t transient;   /* partial for a reason that may pass */
	uint64_t num_allocations, allocation_bytes;
	uint64_t num_leaks, leak_bytes;
	uint64_t num_entries, entries_size; /* packed entries follow; bytes */
	uint64_t sample_bytes;
	uint64_t num_total; /* number of all entries */
	struct mu_pipe_usage usage;
	uint64_t unreported_count, unreported_bytes;
	uint64_t unrecorded_least, unrecorded_most;
	struct mu_why why;
};

/*
 * Send the sweep's result; after a failure only STATUS and WHY. Returns false
 * if the reader is gone. Runs in: sweeper.
 */
bool mu_leak_pipe_send(int fd, enum mu_status status, const struct mu_why *why,
    const struct mu_heap *heap, const struct mu_leaks *leaks);

/* True if a sweeper can have sent HEADER for LIMIT entries. Pure. */
bool mu_leak_pipe_check(const struct mu_pipe_header *header, size_t limit);

/*
 * Receive it into INFO and, the entries, packed, result->entries, which is
 * memory of RESULTS. Waits until image->job.deadline_ns and notices when the
 * sweeper dies. Returns the sweep's status or why it could not be had.
 *
 * Runs in: original. Uses no malloc, no errno.
 */
enum mu_status mu_leak_pipe_receive(struct mu_image *image,
    struct mu_results *results, struct mu_result *result,
    struct UnreachableMemoryInfo *info);

#endif
