/*
 * The image of the program, as a pass takes and searches it: what original,
 * collector and sweeper share.
 *
 * The collector sees it because it shares the memory, the sweeper has a copy.
 */
#ifndef LIB_STATE_IMAGE_H
#define LIB_STATE_IMAGE_H

#include "heapwalk/subject/snapshot.h"
#include "lib/state/job.h"
#include "lib/state/stop.h"
#include "lib/state/sweeper_end.h"
#include "memunreachable/memunreachable.h"
#include "mu/range.h"
#include "mu/sys.h"

struct mu_caller;   /* lib/state/caller.h */
struct mu_left_out; /* lib/state/left_out.h */

/* Which look of a pass this is; with the option confirm there are two. */
enum mu_turn { MU_TURN_ONLY, MU_TURN_FIRST, MU_TURN_SECOND };

/* What the sweeper is to search for, and to send. */
struct mu_wanted {
	size_t limit;          /* entries */
	bool contents;         /* of blocks */
	bool blocks;           /* the unreachable ones, too */
	bool references;       /* to a block, no leaks */
	uintptr_t hidden;      /* ~address of that block */
	struct mu_reach reach; /* what counts as a reference */
	enum mu_turn turn;
	struct mu_range *candidates; /* lost in the first look, by address */
	size_t num_candidates;
};

/* Memory that a fork leaves out, or that goes on changing (left_out.h). */
struct mu_uncopied {
	struct mu_left_out *page; /* NULL if it could not be mapped */
	bool hold;                /* the collector waits for the sweeper */
	bool shared;              /* the same, to copy shared memory
				     (heapwalk/memory/shared.h) */
	size_t changing; /* bytes of shared memory that could not be copied */
	int memory, pagemap; /* descriptors of the collector; -1: none */
	unsigned late_tries; /* stops that were over before shared memory
				was read */
};

struct mu_image {
	struct mu_job job;
	struct mu_stop stop;
	const struct mu_caller *caller; /* NULL: none */

	struct mu_snapshot snap;
	uint64_t mapped_pages; /* at the stop; 0: snap has the mappings */
	struct mu_uncopied uncopied;
	bool in_place; /* the memory is the program's: it is no image */

	/* Our own stacks, which are not searched. */
	char *stack; /* of collector and sweeper; guard page first */
	size_t stack_size;
	uintptr_t frames_begin; /* of our frames on the asking thread's stack */
	struct mu_range own_stack; /* that of the pass, if not that */

	struct mu_wanted wanted;
	struct mu_sweeper sweeper;
};

/* Let the threads stop within SPAN ns, at most until the pass ends. */
static inline void
mu_image_stop_within(struct mu_image *image, uint64_t span)
{
	image->stop.until_ns = mu_sys_now_ns() + span;
	if (image->stop.until_ns > image->job.deadline_ns)
		image->stop.until_ns = image->job.deadline_ns;
}

#endif
