/*
 * Read memory that a fork leaves out of the image (MADV_DONTFORK,
 * MADV_WIPEONFORK).
 *
 * The image of the first try does not have it. The sweeper finds that out after
 * the stop, when the contents may have changed, and says so in a page that all
 * three processes share. In the next try the collector keeps the threads
 * stopped until the sweeper has read that memory from the original. A program
 * without such memory never waits, and smaps is never read during a stop.
 *
 * Shared memory is in the image, but keeps changing: if the program has any,
 * the collector waits in the same way until the sweeper has copied it
 * (heapwalk/memory/shared.h).
 */
#ifndef LIB_STATE_GAP_SYNC_H
#define LIB_STATE_GAP_SYNC_H

#include "heapwalk/memory/fork_gaps.h"
#include "lib/state/image.h"

#define MU_GAP_SYNC_WIPED 128 /* ranges that are remembered */

/* The shared page. */
struct mu_gap_sync {
	int filled;  /* futex, not private; not 0: the sweeper has read what it
			needs, or threads continue */
	bool wanted; /* the next try can read memory that the image does
			not have */
	bool stacks; /* the next try must read alternate signal stacks */
	bool late;   /* a little was not read in time; try again */
	size_t num_wiped;
	struct mu_range wiped[MU_GAP_SYNC_WIPED];
};

/*
 * Map the page, unless there is one, and unmap it. Without it a pass searches
 * only what the image has.
 *
 * Runs in: original.
 */
void mu_gap_sync_open(struct mu_image *image);
void mu_gap_sync_close(struct mu_image *image);

/* Its address range, which is not searched. */
struct mu_range mu_gap_sync_range(const struct mu_image *image);

/* True if another try is needed; it will read the missing memory. */
bool mu_gap_sync_needs_retry(struct mu_image *image);

/*
 * Call before the stop: open the files through which the sweeper will read.
 * Runs in: collector, with its own descriptor table.
 */
void mu_gap_sync_prepare(struct mu_image *image);

/*
 * Wait, with threads stopped, until the sweeper needs the original's memory no
 * longer, is dead, or takes too long; in the last case the page tells the
 * sweeper that what it reads may have changed. Runs in: collector.
 */
void mu_gap_sync_await(struct mu_image *image);

/*
 * Guard the image and add the missing memory. MU_ERR_TIMEOUT: this try is over
 * and another one is needed. *LOST is the number of pages that could not be
 * read.
 *
 * Runs in: sweeper.
 */
enum mu_status mu_gap_sync_fill(struct mu_image *image, size_t *lost);

/*
 * Memory is missing in the image. Returns MU_ERR_TIMEOUT: another try has to
 * read it. There must be a page to say so. Runs in: sweeper.
 */
enum mu_status mu_gap_sync_request(struct mu_image *image);

/*
 * A leaked block may be an alternate signal stack, and not every thread's was
 * read. Returns true if another try will read them; this one is over, and WHY
 * is set as by mu_gap_sync_request(). Runs in: sweeper.
 */
bool mu_gap_sync_request_stacks(struct mu_image *image, struct mu_why *why);

/*
 * True if fork has cleared memory in this image. Call only if there are leaks.
 * Runs in: sweeper.
 */
bool mu_gap_sync_wiped(struct mu_image *image);

#endif
