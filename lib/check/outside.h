/*
 * The checks from outside, as a subject of the driver (lib/driver/driver.h): an
 * image is taken, searched here, and fills a report. What is special about a
 * running process, one that has reached its end, and a core file is in their
 * operations.
 */
#ifndef LIB_CHECK_OUTSIDE_H
#define LIB_CHECK_OUTSIDE_H

#include "lib/check/judgement.h"
#include "lib/driver/driver.h"

/* One look: an image of the subject, searched. */
struct mu_check_look {
	const struct mu_check *check;
	uint64_t begin_ns, deadline_ns; /* of the check */
	struct mu_judgement judgement;
	struct mu_snapshot *snap; /* set by take() */
	enum mu_status status;
	struct mu_why why;
	bool unsettled;    /* a thread may have been in malloc */
	bool changing;     /* memory changed while it was read */
	bool renewed;      /* the subject runs another program than before */
	uint64_t pause_ns; /* the longest stop of all looks */
};

/* SUBJECT is the second argument of mu_check_run(). */
struct mu_subject_ops {
	/*
	 * Freeze, stop and take: look->snap is threads and memory, where the
	 * result is MU_OK or MU_PARTIAL. Otherwise look->why says why not.
	 */
	enum mu_status (*take)(void *subject, struct mu_check_look *look);

	/* Open memory that the program has closed. */
	void (*unlock)(void *subject);

	/*
	 * After the search, while the memory can be read: what the look may
	 * have missed goes to its status and words.
	 */
	void (*note)(void *subject, struct mu_check_look *look);

	/* Give the image back. NULL: the caller of mu_check_run() does. */
	void (*drop)(void *subject);

	/*
	 * Is another try worth it? TRIES: since the last time that the heap
	 * was judged. NULL: the subject has only this moment.
	 */
	bool (*again)(
	    void *subject, struct mu_check_look *look, struct mu_tries *tries);

	/*
	 * Is LOOK, which found something, known to miss references? Then WHY
	 * says which. NULL: as again().
	 */
	bool (*misses)(const void *subject, const struct mu_check_look *look,
	    struct mu_why *why);

	/* The heap could not be judged: more of the reason. NULL: no more. */
	void (*explain)(const void *subject, struct mu_check_look *look);

	/* The subject itself: pid, program, threads, stop. */
	void (*describe)(const void *subject, struct mu_report *report);

	/* Names of the report's addresses: see mu_naming_ask(). */
	void (*name)(
	    void *subject, struct mu_report *report, uint64_t deadline_ns);
};

/* As mu_check_process(). */
enum mu_status mu_check_run(const struct mu_check *check, void *subject,
    const struct mu_subject_ops *ops, struct mu_report *report);

/* Was the heap judged? */
static inline bool
mu_check_judged(const struct mu_check_look *look)
{
	return look->status == MU_OK || look->status == MU_PARTIAL;
}

/* May what was found be in use at another moment? */
bool mu_check_doubtful(const struct mu_check_look *look);

#endif
