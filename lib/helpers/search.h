/*
 * From a snapshot to an answer: live blocks, roots, marks, entries.
 *
 * Used by the sweeper, on its own image, and by the command, on another process
 * or a core file.
 *
 * Runs in: sweeper (any).
 */
#ifndef LIB_HELPERS_SEARCH_H
#define LIB_HELPERS_SEARCH_H

#include "heapwalk/fold/fold.h"
#include "heapwalk/fold/known.h"
#include "heapwalk/heaps/heap.h"
#include "heapwalk/recorded/recorded.h"
#include "heapwalk/roots/roots.h"

/* A step that is about to begin, or has just ended. */
enum mu_search_step {
	MU_SEARCH_LIST,
	MU_SEARCH_LISTED, /* the caller opens memory that the program made
			     inaccessible */
	MU_SEARCH_ROOTED, /* no more memory will be searched for roots */
	MU_SEARCH_LINKED, /* the graph is made */
	MU_SEARCH_READ,   /* no block will be read; this step may not occur */
	MU_SEARCH_MARKED,
	MU_SEARCH_FOLD,
	MU_SEARCH_FOLDED,
};

struct mu_search {
	/* Set by the caller. */
	struct mu_snapshot *snap;
	struct mu_arena *tables;
	uint64_t begin_ns, deadline_ns; /* CLOCK_MONOTONIC */
	size_t limit;                   /* number of entries; 0: only count */
	enum mu_by by;                  /* how entries are grouped */
	bool contents;                  /* of entries */
	bool list;         /* all entries, even if there are groups */
	const int *file;   /* for many entries (heapwalk/fold/packed.h) */
	bool keep;         /* the caller reads blocks, too */
	bool known_owners; /* leave out what known blocks lead to, as well */
	mu_words_filter *filter; /* as in struct mu_blocks */
	void (*step)(struct mu_search *search, enum mu_search_step step);
	void *ctx; /* for STEP */

	/*
	 * A second look: only blocks that an earlier image had lost can be
	 * leaks.
	 */
	bool again;
	const struct mu_range *candidates; /* by address */
	size_t num_candidates;

	/*
	 * Blocks that are not reported, with KEEP; see mu_known_leave_out().
	 * KNOWN_STAY: they are, even if something refers to them.
	 */
	const struct mu_known *known;
	size_t num_known;
	bool known_stay;

	/* The answer, as far as the search got. */
	struct mu_heap heap;
	struct mu_roots roots;
	struct mu_graph graph;
	struct mu_leaks leaks;
	struct mu_recorder recorder;
	bool recorded; /* there is a recorder */
	enum mu_status status;
	struct mu_why why;
};

/*
 * Note that a part of the search ended with STATUS and WHY. Returns false if
 * the search cannot continue. If there are several reasons for a partial answer
 * the first is kept.
 */
bool mu_search_note_status(
    struct mu_search *search, enum mu_status status, const struct mu_why *why);

/*
 * List the blocks and mark what can be reached. Returns false if the search has
 * ended.
 */
bool mu_search_mark(struct mu_search *search);

/* Fold the unreachable blocks. Returns false if the search has ended. */
bool mu_search_fold(struct mu_search *search);

#endif
