/*
 * The driver of all checks: it looks at a subject, tries again until the heap
 * can be checked, and looks once more if what was found may be in use. The
 * operations are those of the subject: the program itself, another process, a
 * process at its end, a core file.
 *
 * Runs in: original, command.
 */
#ifndef LIB_DRIVER_DRIVER_H
#define LIB_DRIVER_DRIVER_H

#include <stdbool.h>
#include <stdint.h>

#include "mu/status.h"

/* The result of one look. */
struct mu_look {
	enum mu_status status;
	struct mu_why why;
	size_t num_leaks; /* leaks found; 0 if the heap was not checked */
	bool doubtful;    /* they may be in use at another moment */
	bool changing;    /* memory changed while it was being read */
	bool first; /* earlier looks do not count: they saw another program */
};

/* The tries of one look until the heap can be checked. */
struct mu_tries {
	unsigned tries, peeks; /* counted by again() */
	uint64_t nap_ns;       /* delay before the next try */
};

/* SUBJECT is the one in struct mu_driver. */
struct mu_look_ops {
	/* Called before the first try of each look; may be NULL. */
	enum mu_status (*begin)(void *subject, struct mu_why *why);

	/*
	 * One try: freeze, stop, take an image, search it. LOOK is zero, and
	 * receives the result.
	 */
	void (*look)(void *subject, struct mu_look *look);

	/*
	 * Decide whether another try is worth it, and save what is needed of
	 * this one. Not called if a try would end after the deadline. NULL: the
	 * subject can be looked at only once.
	 */
	bool (*again)(
	    void *subject, const struct mu_look *look, struct mu_tries *tries);

	/*
	 * From now on report only what this look has found. MU_OK; otherwise
	 * LOOK gets the returned status and WHY, and no further look is made.
	 */
	enum mu_status (*remember)(
	    void *subject, const struct mu_look *look, struct mu_why *why);

	/* Release image and answer of the last look before another one. */
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
	uint64_t confirm_ns; /* delay before a confirming look */

	struct mu_look look; /* the last look, which is the result */
	unsigned tries;      /* of all looks */
	uint64_t begin_ns;   /* of the last try, CLOCK_MONOTONIC */
};

/* The caller sets the members before LOOK. */
void mu_driver_run(struct mu_driver *driver);

/* True if the heap was checked. */
static inline bool
mu_look_checked(const struct mu_look *look)
{
	return mu_status_usable(look->status);
}

#endif
