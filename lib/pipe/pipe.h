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
#define MU_PIPE_VERSION 8

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
	uint64_t transient;   /* partial only by bad luck */
	uint64_t num_allocations, allocation_bytes;
	uint64_t num_entries, entries_size; /* right behind; bytes */
	uint64_t num_total;                 /* entries that there are */
	struct mu_why why;

	/* Of leaks only; else 0. */
	uint64_t num_leaks, leak_bytes;
	uint64_t sample_bytes;
	uint64_t unreported_count, unreported_bytes;
	uint64_t unrecorded_least, unrecorded_most;
	struct mu_pipe_usage usage;
};

/* Write all SIZE bytes; false if the reader is gone. Runs in: sweeper. */
bool mu_pipe_write(int fd, const void *data, size_t size);

/*
 * All SIZE bytes, or WHY not: waits until sweeper->deadline_ns and notices when
 * the sweeper dies. Runs in: original.
 */
enum mu_status mu_pipe_read(
    struct mu_sweeper *sweeper, void *data, size_t size, struct mu_why *why);

/*
 * The header of an answer without entries. WHY and HEAP are read only if STATUS
 * is such that they mean something. Runs in: sweeper.
 */
struct mu_pipe_header mu_pipe_header(enum mu_pipe_kind kind,
    enum mu_status status, const struct mu_why *why,
    const struct mu_heap *heap);

/*
 * Can a sweeper have sent this of HEADER: all but the sizes of the entries and
 * what only leaks have? Pure.
 */
bool mu_pipe_check(const struct mu_pipe_header *header, enum mu_pipe_kind kind);

/*
 * HEADER was received, and is well-formed if CHECKED: its status and reason.
 * Runs in: original.
 */
enum mu_status mu_pipe_take(const struct mu_pipe_header *header, bool checked,
    struct mu_result *result, struct mu_why *why);

/* What was received is not what a sweeper sends: WHY says so. */
enum mu_status mu_pipe_damaged(struct mu_why *why);

#endif
