/*
 * How a step of a pass ended, and one sentence that says why.
 *
 * The values are those of enum MemunreachableStatus in the public header
 * (lib/pass/memunreachable.c asserts it), so a status travels from the sweeper
 * to the caller unchanged.
 *
 * Runs in: any.
 */
#ifndef MU_STATUS_H
#define MU_STATUS_H

#include <stdbool.h>
#include <stddef.h>

#include "mu/status_list.h"

#define MU_STATUS_VALUE(id, ...) MU_##id,
enum mu_status { MU_STATUS_LIST(MU_STATUS_VALUE) MU_STATUS_COUNT };
#undef MU_STATUS_VALUE

/*
 * A cause and its remedy: one sentence without a newline, cut at the end if too
 * long.
 */
struct mu_why {
	char text[256];      /* the cause; then "; " and the remedy */
	unsigned short cure; /* index of the remedy in WORDS, or 0 */
};

/* In a format of mu_why(): the text after it is the remedy. */
#define MU_CURE "\f"

/*
 * Write the cause to WHY, which may be NULL, and return STATUS, so that a
 * failure takes one statement:
 *	return mu_why(why, MU_ERR_NO_PROC, "cannot open %s (%d)" MU_CURE
 *	    "mount it", path, err);
 * An empty remedy counts as none. Formats are those of mu_text_format().
 */
enum mu_status mu_why(struct mu_why *why, enum mu_status status,
    const char *format, ...) __attribute__((format(printf, 3, 4)));

/*
 * MU_ERR_HELPER_DIED for WHO, such as "the sweeper". WAIT_STATUS, from wait4(),
 * tells the signal that killed it or its exit status; -1: another caller reaped
 * it.
 */
enum mu_status mu_why_died(
    struct mu_why *why, const char *who, int wait_status);

/* Add a remedy, or remove the one that WHY has. */
void mu_why_cure(struct mu_why *why, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void mu_why_drop_cure(struct mu_why *why);

/*
 * Put the text of FIRST, then BETWEEN, before that of WHY. WHY keeps its
 * remedy; if it has none it gets that of FIRST.
 */
void mu_why_after(
    struct mu_why *why, const struct mu_why *first, const char *between);

/*
 * Add the result of another step to STATUS and WHY. NEXT and NEXT_WHY replace
 * them unless NEXT is MU_OK, or is partial and STATUS already is. Returns false
 * if NEXT is a failure, after which no step can follow.
 */
bool mu_status_join(enum mu_status *status, struct mu_why *why,
    enum mu_status next, const struct mu_why *next_why);

/*
 * True if mu_why() can have written WHY; used for bytes from another process.
 */
bool mu_why_check(const struct mu_why *why);

/*
 * A stable word, for programs that read a report: the name of the
 * MEMUNREACHABLE_ constant in small letters; "unknown" for an invalid value.
 */
const char *mu_status_word(int status);

/* A name such as "heap inconsistent"; never NULL. */
const char *mu_status_name(enum mu_status status);

/* True if there is a result, whole or in part. */
static inline bool
mu_status_usable(enum mu_status status)
{
	return status == MU_OK || status == MU_PARTIAL;
}

/* The other columns of the status in mu/status_list.h; never NULL. */
const char *mu_status_cure(enum mu_status status);
const char *mu_status_advice(enum mu_status status);

/* The status that best describes a failed system call; ERROR is positive. */
enum mu_status mu_status_from_errno(int error);

#endif
