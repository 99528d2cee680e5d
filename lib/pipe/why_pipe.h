/*
 * References as bytes: the format in which the sweeper sends the references to
 * a block, and the checks of the original.
 *
 * Built like lib/pipe/leak_pipe.h. Names do not travel: the original has the
 * mappings and threads that the records refer to by number.
 */
#ifndef LIB_PIPE_WHY_PIPE_H
#define LIB_PIPE_WHY_PIPE_H

#include "heapwalk/heaps/heap.h"
#include "heapwalk/refer/referrers.h"
#include "lib/pipe/result.h"
#include "lib/state/image.h"
#include "lib/state/results.h"

#define MU_WHY_MAGIC 0x6779687779687777ull
#define MU_WHY_VERSION 1

struct mu_why_header {
	uint64_t magic;
	uint32_t version;
	uint32_t header_size, entry_size; /* bytes */
	uint32_t status;                  /* enum mu_status of the sweep */
	uint32_t transient;               /* partial only by bad luck */
	uint32_t unused;
	uint64_t num_allocations, allocation_bytes;
	uint64_t total;       /* references */
	uint64_t num_entries; /* struct mu_referrer each, right behind */
	struct mu_why why;
};

/* What is asked, and the answer. */
struct mu_references {
	uintptr_t hidden; /* ~address: no reference to the block itself */
	size_t total;
	/* One of RESULTS, with the names behind the entries; NULL if none. */
	struct MemunreachableReference *items;
	size_t count;
};

/* Forget the answer, for another try or for good. Runs in: original. */
void mu_references_drop(struct mu_references *references);

/*
 * Send the outcome; on a failure only the status and WHY. False if the reader
 * is gone. Runs in: sweeper.
 */
bool mu_why_pipe_send(int fd, enum mu_status status, const struct mu_why *why,
    const struct mu_heap *heap, const struct mu_referrers *referrers);

/* Is HEADER one that a sweeper of ours can have sent? Pure. */
bool mu_why_pipe_check(const struct mu_why_header *header);

/* Is ENTRY one that it can have sent for the threads and mappings of SNAP? */
bool mu_why_pipe_check_entry(
    const struct mu_referrer *entry, const struct mu_snapshot *snap);

/*
 * Receive it into REFERENCES and the counts of INFO. Returns the sweep's
 * status or why it could not be had.
 *
 * Runs in: original. Uses no malloc, no errno.
 */
enum mu_status mu_why_pipe_receive(struct mu_image *image,
    struct mu_references *references, struct mu_result *result,
    struct UnreachableMemoryInfo *info);

#endif
