/*
 * The seccomp filters of a program that a command runs. The check at its end
 * makes calls that the program itself does not make. The command makes them
 * under the filters that it has; one that the program added may kill for them.
 *
 * Runs in: original.
 */
#ifndef LIB_PASS_FILTERS_H
#define LIB_PASS_FILTERS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct mu_filters {
	int64_t begun; /* number when the program began; -1: not known, as
			  before Linux 5.9 */
	bool fixed;    /* they are those of the command, and the program had no
			  right to add one without a trace */
};

/* Called before the program's own code. TRACER: the command. */
void mu_filters_note(struct mu_filters *filters, pid_t tracer);

/*
 * True if the calling thread, as far as can be known, has only filters that it
 * had when the program began. If SURELY, this is proved, and only prctl() is
 * called; else files may be read.
 */
bool mu_filters_permit(const struct mu_filters *filters, bool surely);

#endif
