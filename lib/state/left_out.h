/*
 * Memory that a fork leaves out of the image (MADV_DONTFORK, MADV_WIPEONFORK):
 * how a pass reads it all the same.
 *
 * The first try has an image without it: the sweeper finds that out after the
 * stop, when the contents may have changed, and says so in a page that all
 * three processes share. In the next try the collector keeps the threads
 * stopped until the sweeper has read that memory from the original. A program
 * without such memory never waits, and smaps is never read during a stop.
 *
 * Shared memory is in the image, but goes on changing: where the program has
 * any, the collector waits in the same way until the sweeper has copied it
 * (heapwalk/memory/shared.h).
 */
#ifndef LIB_STATE_LEFT_OUT_H
#define LIB_STATE_LEFT_OUT_H

#include "heapwalk/memory/fork_gaps.h"
#include "lib/state/image.h"

#define MU_LEFT_OUT_WIPED 128 /* ranges that are remembered */

/* The shared page. */
struct mu_left_out {
	int filled;  /* futex, not private: not 0: the sweeper has read what it
			needs, or threads go on */
	bool wanted; /* memory is missing in the image that the next try can
			read */
	bool stacks; /* the next try must ask for alternate signal stacks */
	bool late;   /* a little was not read in time; the next try may do it */
	size_t num_wiped;
	struct mu_range wiped[MU_LEFT_OUT_WIPED];
};

/*
 * Map the page, unless there is one, and unmap it. Without it a pass searches
 * only what the image has.
 *
 * Runs in: original.
 */
void mu_left_out_open(struct mu_image *image);
void mu_left_out_close(struct mu_image *image);

/* Its address range, which is not searched. */
struct mu_range mu_left_out_range(const struct mu_image *image);

/* True if another try is needed; it will read the missing memory. */
bool mu_left_out_again(struct mu_image *image);

/*
 * Before the stop: open what the sweeper will read through. Runs in:
 * collector, with its own descriptor table.
 */
void mu_left_out_prepare(struct mu_image *image);

/*
 * Wait, threads stopped, until the sweeper is done with the original's memory
 * or dead, or this lasts too long; the sweeper then knows that what it reads
 * may have changed. Runs in: collector.
 */
void mu_left_out_await(struct mu_image *image);

/*
 * Guard the image and add the memory that is missing in it. MU_ERR_TIMEOUT:
 * another try is needed, this one is over. *LOST becomes the pages that could
 * not be read.
 *
 * Runs in: sweeper.
 */
enum mu_status mu_left_out_guard(struct mu_image *image, size_t *lost);

/*
 * Memory is missing in the image. Returns MU_ERR_TIMEOUT: another try will have
 * to read it. There must be a page to say so in. Runs in: sweeper.
 */
enum mu_status mu_left_out_want(struct mu_image *image);

/*
 * A block is lost that may be an alternate signal stack, and not every thread
 * was asked for its own. True: another try will; this one is over, and WHY is
 * set as by mu_left_out_want(). Runs in: sweeper.
 */
bool mu_left_out_want_stacks(struct mu_image *image, struct mu_why *why);

/*
 * Is there memory that this image has only zeros of? To be asked only when
 * something is lost. Runs in: sweeper.
 */
bool mu_left_out_wiped(struct mu_image *image);

#endif
