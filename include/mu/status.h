/*
 * How a step of a pass ended, and the one sentence that says why.
 *
 * The values are those of enum MemunreachableStatus in the public header
 * (lib/pass/memunreachable.c asserts it), so a status travels from the sweeper
 * to the caller unchanged.
 *
 * Runs in: any.
 */
#ifndef MU_STATUS_H
#define MU_STATUS_H

#include <stddef.h>

#include "mu/status_list.h"

#define MU_STATUS_VALUE(id, ...) MU_##id,
enum mu_status { MU_STATUS_LIST(MU_STATUS_VALUE) MU_STATUS_COUNT };
#undef MU_STATUS_VALUE

/*
 * The cause in words: one sentence without a newline, cut at the end if too
 * long. A remedy for this cause follows a semicolon, if there is one.
 */
struct mu_why {
	char words[256];
};

/*
 * Write the cause and return STATUS, so that a failure is one statement:
 *	return mu_why(why, MU_ERR_NO_PROC, "cannot open %s (%d)", path, err);
 * Formats as mu_text_format(). WHY may be NULL.
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

/* A name such as "heap inconsistent"; never NULL. */
const char *mu_status_name(enum mu_status status);

/* The rest of its row in mu/status_list.h; never NULL. */
const char *mu_status_cure(enum mu_status status);
const char *mu_status_advice(enum mu_status status);

/* The status that best describes a failed system call; ERROR is positive. */
enum mu_status mu_status_from_errno(int error);

#endif
