/*
 * The image of the program, as a pass takes and searches it: what original,
 * collector and sweeper share.
 *
 * The collector sees it because it shares the memory, the sweeper has a copy.
 *
 * Runs in: original, collector, sweeper.
 */
#ifndef LIB_STATE_IMAGE_H
#define LIB_STATE_IMAGE_H

#include "heapwalk/fold/leaks.h"
#include "heapwalk/graph/words.h"
#include "heapwalk/subject/snapshot.h"
#include "lib/state/job.h"
#include "lib/state/stop.h"
#include "lib/state/sweeper_end.h"
#include "memunreachable/memunreachable.h"
#include "mu/range.h"
#include "mu/sys.h"

struct mu_known;    /* heapwalk/fold/known.h */
struct mu_caller;   /* lib/state/caller.h */
struct mu_gap_sync; /* lib/state/gap_sync.h */

/* Which look of a pass this is; with the option confirm there are two. */
enum mu_which_look { MU_LOOK_ONLY, MU_LOOK_FIRST, MU_LOOK_SECOND };

/* What the sweeper is to search for, and to send. */
struct mu_query {
	size_t limit;          /* entries */
	bool contents;         /* of blocks */
	enum mu_by by;         /* how entries are grouped */
	bool blocks;           /* the unreachable ones, too */
	bool words;            /* mu_known_contents() of each of BLOCKS, too */
	bool references;       /* to a block, no leaks */
	uintptr_t hidden;      /* ~address of that block */
	struct mu_reach reach; /* what counts as a reference */
	mu_words_filter *filter; /* for this CPU */
	enum mu_which_look look;
	const struct mu_known *known; /* not reported, by address; with
					WORDS: all that are allocated */
	size_t num_known;
	struct mu_range *candidates; /* lost in the first look, by address */
	uint64_t *candidate_words;   /* with WORDS */
	size_t num_candidates;
};

/* Memory that a fork leaves out, or that keeps changing (gap_sync.h). */
struct mu_uncopied {
	struct mu_gap_sync *page; /* NULL if it could not be mapped */
	bool hold;                /* the collector waits for the sweeper */
	bool shared;              /* the same, to copy shared memory
				     (heapwalk/memory/shared.h) */
	size_t changing; /* bytes of shared memory that could not be copied */
	uintptr_t *kept; /* where the sweeper still shares the others; or NULL
			  */
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

	struct mu_query query;
	struct mu_sweeper sweeper;
};

/* The program could not run for NS. */
static inline void
mu_image_paused(struct mu_image *image, uint64_t ns)
{
	if (image->stop.pause_ns < ns)
		image->stop.pause_ns = ns;
}

/* Let the threads stop within SPAN ns, at most until the pass ends. */
static inline void
mu_image_stop_within(struct mu_image *image, uint64_t span)
{
	image->stop.until_ns = mu_sys_now_ns() + span;
	if (image->stop.until_ns > image->job.deadline_ns)
		image->stop.until_ns = image->job.deadline_ns;
}

#endif
