/*
 * One look of a watch: its figures, and its groups of blocks with names. The
 * check may run in a child with the rights of the process
 * (lib/check/privsep.h), so a look has no pointers and passes through a file as
 * it is.
 *
 * Runs in: the command.
 */
#ifndef LIB_WATCH_LOOK_H
#define LIB_WATCH_LOOK_H

#include "lib/check/check.h"

#define MU_WATCH_NAME 192    /* bytes of a name, with its end */
#define MU_WATCH_GROUPS 1024 /* of one look */

enum mu_watch_kind {
	MU_WATCH_LOST,
	MU_WATCH_LIVE,
	MU_WATCH_HELD, /* by a variable: by path; of groups that are LIVE */
	MU_WATCH_KINDS
};

/* What is known of the groups of live blocks, and of what holds them. */
enum mu_watch_typed {
	MU_TYPED_NOT,
	MU_TYPED_PARTLY, /* there was no time or memory for all of them */
	MU_TYPED
};

struct mu_watch_group {
	char name[MU_WATCH_NAME]; /* the same in each look: no address */
	enum mu_watch_kind kind;
	uint64_t bytes, blocks;             /* of HELD: elements */
	uint64_t stale_bytes, stale_blocks; /* not changed for long */
	uint64_t stale_seconds; /* for how long; 0: there are none */
};

struct mu_watch_look {
	/* set by the watcher */
	uint64_t real_ns,
	    mono_ns; /* when it began: CLOCK_REALTIME, _MONOTONIC */
	pid_t pid;
	/* bytes, just before the stop; 0: not known; ANON is part of RSS */
	uint64_t rss, pss, anon;
	uint64_t new_lost; /* bytes lost since the look before */
	bool restarted;    /* the first look at another process or program */
	uint64_t stop_ns;  /* all stops of this look, at most */

	/* set by the check */
	char program[256];
	int status; /* enum MemunreachableStatus */
	char reason[256];
	uint64_t pause_ns, total_ns;
	uint64_t live, lost, held_free; /* bytes */
	uint64_t live_blocks, lost_blocks;
	uint64_t
	    stale; /* bytes of live groups that have not changed for long */
	enum mu_watch_typed typed;
	size_t num_groups;
	struct mu_watch_group groups[MU_WATCH_GROUPS];
};

/* True if the heap was checked. */
bool mu_watch_look_checked(const struct mu_watch_look *look);

/*
 * True if A and B name one group: a type that one look proves is probable in
 * the next one, when an old word says something else.
 */
bool mu_watch_is_named(const char *a, const char *b);

/* Fill in what REPORT says. */
void mu_watch_look_fill(
    struct mu_watch_look *look, const struct mu_report *report);

/*
 * Check as CHECK says, whose PID is the process, and fill in all that the check
 * sets. A failure is a status of LOOK.
 */
void mu_watch_look_take(
    struct mu_watch_look *look, const struct mu_check *check);

#endif
