/*
 * Transfer from the sweeper to the original, for all messages: leaks or
 * references, and the blocks of a first look.
 *
 * An answer is built like a file: magic, version, sizes and counts come first,
 * and each is checked before anything is allocated. The entries follow. Both
 * ends loop over short transfers.
 */
#ifndef LIB_PIPE_PIPE_H
#define LIB_PIPE_PIPE_H

#include "heapwalk/heaps/heap.h"
#include "lib/pipe/result.h"
#include "lib/state/image.h"

#define MU_PIPE_MAGIC 0x656c62616863726eull /* "nrchable" */
#define MU_PIPE_VERSION 9

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

/* Write all SIZE bytes; false if the reader is gone. Runs in: sweeper. */
bool mu_pipe_write(int fd, const void *data, size_t size);

/*
 * Read all SIZE bytes. On failure WHY says why. Waits until
 * sweeper->deadline_ns and detects the death of the sweeper. Runs in: original.
 */
enum mu_status mu_pipe_read(
    struct mu_sweeper *sweeper, void *data, size_t size, struct mu_why *why);

/*
 * Make the header of an answer without entries. WHY and HEAP are used only with
 * a STATUS for which they are valid. Runs in: sweeper.
 */
struct mu_pipe_header mu_pipe_header(enum mu_pipe_kind kind,
    enum mu_status status, const struct mu_why *why,
    const struct mu_heap *heap);

/*
 * True if a sweeper can have sent HEADER, except for the sizes of the entries
 * and what only leaks have, which are not checked. Pure.
 */
bool mu_pipe_check(const struct mu_pipe_header *header, enum mu_pipe_kind kind);

/*
 * The status and reason in HEADER, which was received; CHECKED: it is
 * well-formed. Runs in: original.
 */
enum mu_status mu_pipe_take(const struct mu_pipe_header *header, bool checked,
    struct mu_result *result, struct mu_why *why);

/* Set WHY and return the status for data that no sweeper sends. */
enum mu_status mu_pipe_damaged(struct mu_why *why);

#endif
