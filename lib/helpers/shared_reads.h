/*
 * Memory of a process to be read while it is stopped, collected so that several
 * threads can share the reading. Most pages of large memory have no pointer to
 * the heap and are dropped (lib/helpers/shared_sift.h): a reader uses the same
 * 1 MiB again and again, which stays in the cache of its CPU.
 *
 * Runs in: keeper.
 */
#ifndef LIB_HELPERS_SHARED_READS_H
#define LIB_HELPERS_SHARED_READS_H

#include <sys/types.h>

#include "heapwalk/subject/workers.h"
#include "lib/helpers/shared_sift.h"
#include "mu/arena.h"

/* For so many threads memory is read as fast as it can be. */
#define MU_READERS_MAX 4

#define MU_READ_STEP ((size_t)1 << 20) /* most bytes of a read */
#define MU_READS_MAX 256
#define MU_PAGES_OF_READ (MU_READ_STEP / 4096)

/* Memory of a reader. */
struct mu_reader_room {
	char *slot;        /* MU_READ_STEP bytes */
	char *kept;        /* pages that are kept */
	size_t used, size; /* bytes of these */
};

struct mu_stop_read {
	struct mu_range range;
	char *to;  /* where the bytes go, or those pages that are kept */
	bool live; /* a copy does not have it */
	bool sifted;
	bool failed; /* no room for the pages that must be kept */
	uint64_t kept[MU_PAGES_OF_READ / 64];
};

struct mu_stop_reads {
	/* Set by the caller. */
	pid_t tid;           /* a thread of the process that lives */
	int memory, pagemap; /* of the process */
	size_t page_size;
	struct mu_workers *workers; /* NULL: only the calling thread */
	const struct mu_sift *sift;
	struct mu_reader_room *rooms; /* MU_READERS_MAX; NULL: keep all */

	/* Pages seen so far that only the process can read (memfd_secret()). */
	size_t unread;

	/* Memory that waits to be read. */
	struct mu_stop_read items[MU_READS_MAX];
	size_t count, bytes;
	size_t next; /* next item for a worker */
};

/*
 * Memory for READERS readers, of which each may keep MOST bytes, and which
 * keep TOUCHED bytes together before they have to wait for pages. Returns
 * false if ARENA is exhausted.
 */
bool mu_reader_rooms_open(struct mu_reader_room *rooms, unsigned readers,
    size_t most, size_t touched, struct mu_arena *arena);

/*
 * Read RANGE, at most MU_READ_STEP bytes, in the next run. TO NULL: sift it.
 * There must be room for it.
 */
void mu_stop_reads_add(
    struct mu_stop_reads *reads, struct mu_range range, char *to, bool live);

/* True if a run is due before more can be added. */
bool mu_stop_reads_full(const struct mu_stop_reads *reads);

/*
 * Read everything that was added; the caller then takes the items and sets
 * COUNT and BYTES to 0. Destinations of what cannot be read are unchanged.
 */
void mu_stop_reads_run(struct mu_stop_reads *reads);

#endif
