/*
 * The answers that the sweeper sends, leaks or references to a block, and the
 * checks of the original.
 *
 * An answer is built like a file: magic, version, sizes and counts come first,
 * and each is checked before anything is allocated. The entries follow. Names
 * are not sent: the original has the mappings and threads to which references
 * refer by number.
 */
#ifndef LIB_PIPE_ANSWER_H
#define LIB_PIPE_ANSWER_H

#include "heapwalk/fold/fold.h"
#include "heapwalk/refer/referrers.h"
#include "lib/pipe/pipe.h"
#include "lib/state/results.h"

#define MU_PIPE_MAGIC 0x656c62616863726eull /* "nrchable" */
#define MU_PIPE_VERSION 10

/* What the entries are. */
enum mu_pipe_kind {
	MU_PIPE_LEAKS,      /* heapwalk/fold/packed.h */
	MU_PIPE_REFERENCES, /* struct mu_referrer each */
};

struct mu_pipe_header {
	uint64_t magic;
	uint32_t version;
	uint32_t header_size; /* bytes */
	uint32_t kind;        /* enum mu_pipe_kind */
	uint32_t status;      /* enum mu_status of the sweep */
	uint64_t transient;   /* partial for a reason that may pass */
	uint64_t num_allocations, allocation_bytes;
	uint64_t num_entries, entries_size; /* entries that follow; bytes */
	uint64_t num_total;                 /* number of all entries */
	struct mu_why why;

	/* For leaks; otherwise 0. */
	uint64_t num_leaks, leak_bytes;
	uint64_t sample_bytes;
	uint64_t unreported_count, unreported_bytes;
	uint64_t unrecorded_least, unrecorded_most;
	struct mu_pipe_usage usage;
	struct mu_groups_info groups; /* which follow the entries */
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
 * Receive the result into INFO, and the packed entries into result->entries, in
 * memory of RESULTS; NULL: in that of the pass, with which they go. Waits until
 * image->job.deadline_ns and detects the death of the sweeper. Returns the
 * sweep's status, or why it could not be received.
 *
 * Runs in: original.
 */
enum mu_status mu_leak_pipe_receive(struct mu_image *image,
    struct mu_results *results, struct mu_result *result,
    struct UnreachableMemoryInfo *info);

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

/* The same with references. Runs in: sweeper. */
bool mu_why_pipe_send(int fd, enum mu_status status, const struct mu_why *why,
    const struct mu_heap *heap, const struct mu_referrers *referrers);

/* True if a sweeper can have sent HEADER. Pure. */
bool mu_why_pipe_check(const struct mu_pipe_header *header);

/*
 * Receive the result into REFERENCES and the counts of INFO. Returns the
 * sweep's status, or why it could not be received.
 *
 * Runs in: original.
 */
enum mu_status mu_why_pipe_receive(struct mu_image *image,
    struct mu_references *references, struct mu_result *result,
    struct UnreachableMemoryInfo *info);

#endif
