/*
 * The seccomp filters of a program that is checked at its end. The check makes
 * calls that the program itself does not make. A command makes them under the
 * filters that it has; one that the program added may kill for them.
 *
 * Runs in: original.
 */
#ifndef LIB_PASS_FILTERS_H
#define LIB_PASS_FILTERS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct mu_filters {
	int64_t begun;  /* number when the program began; -1: not known, as
			   before Linux 5.9 */
	bool fixed;     /* they are those of the command, and the program had no
			   right to add one without a trace */
	uintptr_t main; /* thread pointer of the first thread */
	bool all, other; /* the program added one that may kill, in the first
			    thread or for all; in another thread */
};

/* Called before the program's own code. TRACER: the command. */
void mu_filters_note(struct mu_filters *filters, pid_t tracer);

/*
 * True if the calling thread, as far as can be known, has only filters that it
 * had when the program began. If SURELY, this is proved, and only prctl() is
 * called; else files may be read.
 */
bool mu_filters_permit(const struct mu_filters *filters, bool surely);

/* What the calling thread asks the kernel to add. */
struct mu_filter_added {
	bool strict;       /* seccomp(2): no filter, but four calls only */
	bool all;          /* for all threads, not for itself */
	uintptr_t program; /* address of the struct sock_fprog, if not STRICT;
			      may be wrong */
};

/*
 * Called before it is added. True if that is the first one that may kill for a
 * call.
 */
bool mu_filters_add(
    struct mu_filters *filters, const struct mu_filter_added *added);

/* The kernel refused that first one. */
void mu_filters_take_back(struct mu_filters *filters);

/*
 * True if the calling thread may have such a filter. Makes no system call. Says
 * nothing about filters that were not seen: those which the program began with,
 * and those added by instructions of its own.
 */
bool mu_filters_may_kill(const struct mu_filters *filters);

#endif
