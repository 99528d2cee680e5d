/*
 * The one driver of all checks: it looks at a subject, tries again until the
 * heap can be judged, and looks once more where what was found may be in use.
 * What a subject (the program itself, another process, its end, a core file)
 * does for that is in its operations.
 *
 * Runs in: original, command. Uses no malloc, no errno.
 */
#ifndef LIB_DRIVER_DRIVER_H
#define LIB_DRIVER_DRIVER_H

#include <stdbool.h>
#include <stdint.h>

#include "mu/status.h"

/* How one look ended. */
struct mu_look {
	enum mu_status status;
	struct mu_why why;
	size_t num_leaks; /* found; 0 if the heap was not judged */
	bool doubtful;    /* these may be in use at another moment */
	bool changing;    /* memory changed while it was read */
	bool first;       /* no earlier look counts: those were of another
			     program */
};

/* The tries of one look that are made until the heap can be judged. */
struct mu_tries {
	unsigned tries, peeks; /* counted by again() */
	uint64_t nap_ns;       /* before the next one */
};

/* SUBJECT is that of struct mu_driver. */
struct mu_look_ops {
	/* Before the first try of each look. NULL: nothing. */
	enum mu_status (*begin)(void *subject, struct mu_why *why);

	/*
	 * One try: freeze, stop, take an image, search it. LOOK is zero, and
	 * becomes the outcome.
	 */
	void (*look)(void *subject, struct mu_look *look);

	/*
	 * Is another try worth it? Then keep what is to be kept of this one.
	 * Not asked if it would end after the deadline. NULL: the subject has
	 * only this moment, and can be looked at once only.
	 */
	bool (*again)(
	    void *subject, const struct mu_look *look, struct mu_tries *tries);

	/*
	 * From now on only what this look has found can be found. MU_OK; or
	 * that of LOOK that this becomes, for WHY: no further look is made.
	 */
	enum mu_status (*remember)(
	    void *subject, const struct mu_look *look, struct mu_why *why);

	/* Release image and answer of the last look: another one follows. */
	void (*forget)(void *subject);

	/*
	 * LOOK is doubtful, and there is no time for another one: it becomes
	 * what can be said all the same. NULL: another one is begun.
	 */
	void (*late)(void *subject, struct mu_look *look);
};

struct mu_driver {
	const struct mu_look_ops *ops;
	void *subject;
	uint64_t deadline_ns;
	uint64_t confirm_ns; /* from a doubtful look to the next */

	struct mu_look look; /* the last one, which is the answer */
	unsigned tries;      /* of all looks */
	uint64_t begin_ns;   /* of the last try, CLOCK_MONOTONIC */
};

/* The caller sets what comes before the look. */
void mu_driver_run(struct mu_driver *driver);

/* Was the heap judged? */
static inline bool
mu_look_judged(const struct mu_look *look)
{
	return look->status == MU_OK || look->status == MU_PARTIAL;
}

#endif
