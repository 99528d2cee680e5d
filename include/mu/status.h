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

enum mu_status {
	MU_OK = 0,
	MU_PARTIAL = 1,      /* an answer; the words say what is missing */
	MU_ERR_ARGUMENT = 2, /* NULL, a bad version, a bad option */
	MU_ERR_BUSY = 3,     /* re-entered, or malloc would not freeze */
	MU_ERR_TIMEOUT = 4,
	MU_ERR_NO_MEMORY = 5,
	MU_ERR_RESOURCES = 6, /* no descriptor, no process */
	MU_ERR_PTRACE_YAMA = 7,
	MU_ERR_PTRACE_SECCOMP = 8,
	MU_ERR_NOT_DUMPABLE = 9,
	MU_ERR_ALREADY_TRACED = 10,
	MU_ERR_NO_PERMISSION = 11,
	MU_ERR_NO_PROC = 12,
	MU_ERR_FOREIGN_ALLOCATOR = 13,
	MU_ERR_HEAP_INCONSISTENT = 14, /* may be gone a moment later: retry */
	MU_ERR_UNKNOWN_GLIBC = 15,
	MU_ERR_HELPER_DIED = 16, /* collector or sweeper */
	MU_ERR_TARGET_GONE = 17,
	MU_ERR_SIGNALS_BLOCKED = 18, /* by a thread: it cannot be parked */
	MU_STATUS_COUNT
};

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

/*
 * The usual remedy in words; "" if there is none, or it depends on the cause.
 */
const char *mu_status_cure(enum mu_status status);

/* The status that best describes a failed system call; ERROR is positive. */
enum mu_status mu_status_from_errno(int error);

#endif
