/*
 * What is to be read of a process while it stands still, collected so that
 * several threads can share the reading.
 *
 * Runs in: keeper.
 */
#ifndef LIB_HELPERS_STOP_READS_H
#define LIB_HELPERS_STOP_READS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "mu/range.h"

#define MU_STOP_READS_MAX 256

struct mu_workers;

struct mu_stop_reads {
	/* Set by the caller. */
	pid_t tid;           /* a thread of the process that lives */
	int memory, pagemap; /* of the process */
	size_t page_size;
	struct mu_workers *workers; /* NULL: the caller's thread alone */

	/* Pages that only the process can read, so far (memfd_secret()). */
	size_t unread;

	/* What waits to be read. */
	struct mu_stop_read {
		struct mu_range range;
		char *to;
	} items[MU_STOP_READS_MAX];
	size_t count, bytes;
	size_t next; /* of the items, for a worker to take */
};

/* RANGE goes to TO, by the next run at the latest; there is one each 4 MiB. */
void mu_stop_reads_add(
    struct mu_stop_reads *reads, struct mu_range range, char *to);

/* Read all that was added. What cannot be read stays as it is. */
void mu_stop_reads_run(struct mu_stop_reads *reads);

#endif
