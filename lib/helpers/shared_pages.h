/*
 * Read, while the process is stopped, memory that a copy shares with it
 * (MAP_SHARED), and which keeps changing, or does not have (MADV_DONTFORK,
 * MADV_WIPEONFORK). Also find pages that have data although the process has
 * never touched them: through their file, or by asking the copy.
 *
 * Runs in: keeper.
 */
#ifndef LIB_HELPERS_SHARED_PAGES_H
#define LIB_HELPERS_SHARED_PAGES_H

#include "heapwalk/memory/remote_memory.h"
#include "heapwalk/subject/ranges.h"
#include "lib/helpers/shared_reads.h"
#include "mu/arena.h"
#include "mu/status.h"
#include "ptrace/remote/process_copy.h"

struct mu_known_run;
struct mu_workers;

struct mu_shared_pages {
	/* Set by the caller. */
	pid_t tid;           /* a thread of the process that lives */
	int memory, pagemap; /* of the process */
	size_t page_size;
	size_t limit;    /* most bytes to read */
	bool ask_wiped;  /* look for MADV_WIPEONFORK, too */
	bool keep_all;   /* words are references that struct mu_sift ignores */
	size_t expected; /* bytes to be read; 0: not known */
	struct mu_workers *workers; /* who shares the reading; may be NULL */
	struct mu_arena *arena;     /* for everything that is found */

	/* Set during the stop, before the reading. */
	const struct mu_thread *threads;
	size_t num_threads;

	/* Results. */
	struct mu_remote_part *parts; /* by address after ..._complete() */
	size_t num_parts, max_parts;
	size_t first_new; /* these got data afterwards; in no order */
	size_t all;       /* mappings of the process when they were listed */
	uint64_t mapped;  /* the pages of these */
	size_t taken;     /* bytes read during the stop */
	size_t sifted;    /* of these, searched for what SIFT covers, */
	size_t kept;      /* and kept */
	struct mu_sift sift;
	uint64_t taken_ns; /* time that this took */
	size_t unread;     /* pages of these that only the process can read */
	size_t changing;   /* bytes not read, where time or memory was short */
	size_t unasked;    /* bytes that may or may not have data */

	/* Internal. */
	bool sifting;
	size_t expected_sifted; /* bytes to be sifted, at least */
	struct mu_reader_room rooms[MU_READERS_MAX];
	struct mu_mapping *mappings; /* shared mappings, by address */
	size_t num_mappings;
	struct mu_mapping
	    *missing; /* those that the copy does not have, by address */
	size_t num_missing;
	size_t round, next;     /* mapping where the reading stopped */
	uintptr_t from;         /* address where it stopped; 0: at its begin */
	struct mu_ranges wiped; /* ranges that are zeros in the copy */
	struct mu_known_run *known; /* pages of files that were read */
	size_t num_known;
	struct mu_known_run *last_run; /* of page LAST_NUMBER * 64; or NULL */
	const struct mu_mapping *last_mapping;
	uint64_t last_number;
	uintptr_t answers; /* room for them in the copy; 0: none */
};

/*
 * Before the stop: list the mappings of process PID. Without memory for the
 * list, everything counts as changing.
 */
void mu_shared_pages_list(struct mu_shared_pages *pages, pid_t pid);

/*
 * During the stop: list again, since mappings may be new or have grown, unless
 * the process has many.
 */
void mu_shared_pages_relist(struct mu_shared_pages *pages);

/*
 * Before the stop, after the listing: count the bytes that will be read of
 * these mappings, up to MOST. Reads the page map.
 */
size_t mu_shared_pages_expect(struct mu_shared_pages *pages, size_t most);

/*
 * Before the stop, after EXPECTED_SIFTED is known: get memory for READERS
 * threads if there is much to be sifted; KEPT: bytes that were kept at the
 * last look, 0 if not known. False: everything will be kept.
 */
bool mu_shared_pages_sift(
    struct mu_shared_pages *pages, unsigned readers, size_t kept);

/*
 * During the stop, if process COPY does not have everything that the process of
 * thread TID has mapped: find what is missing, until UNTIL_NS.
 * MU_ERR_NO_MEMORY, and errors of reading the mappings of the two.
 */
enum mu_status mu_shared_pages_compare(struct mu_shared_pages *pages, pid_t tid,
    pid_t copy, uint64_t until_ns, struct mu_why *why);

/*
 * During the stop: read what the process has touched, until END_NS
 * (CLOCK_MONOTONIC), or LAST_NS for the first 16 MiB. Small mappings come
 * first. Pages of a file that are mapped twice are read once, and only one of
 * the mappings shows them. Ends earlier if the time will clearly not suffice,
 * at the rate so far, or if memory is exhausted.
 */
void mu_shared_pages_take(
    struct mu_shared_pages *pages, uint64_t end_ns, uint64_t last_ns);

/*
 * After the stop: list what was not read. Takes time: 20 ms for a file of 1 GiB
 * with three mappings.
 */
void mu_shared_pages_take_rest(struct mu_shared_pages *pages);

/*
 * After the stop: add what is missing to MAPPINGS, those of the copy, in a new
 * array. Returns false if memory is exhausted.
 */
bool mu_shared_pages_merge(struct mu_shared_pages *pages,
    struct mu_mapping **mappings, size_t *num_mappings);

/*
 * After the stop, with the MAPPINGS of the copy: add what was mapped since the
 * listing, and what no process has touched. COPY_MEMORY is /proc/COPY/mem.
 * Sorts the parts.
 */
void mu_shared_pages_complete(struct mu_shared_pages *pages,
    const struct mu_mapping *mappings, size_t num_mappings,
    const struct mu_process_copy *copy, int copy_memory, uint64_t deadline_ns);

/* Later, with the same: add what has got data since. */
void mu_shared_pages_again(struct mu_shared_pages *pages,
    const struct mu_mapping *mappings, size_t num_mappings,
    const struct mu_process_copy *copy, int copy_memory, uint64_t deadline_ns);

#endif
