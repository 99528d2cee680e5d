/*
 * Write the image of a look as a core file: ELF, as gcore(1) writes it, but
 * while the program runs on.
 *
 * Runs in: the command.
 */
#ifndef LIB_LOOK_CORE_OUT_H
#define LIB_LOOK_CORE_OUT_H

#include <stdbool.h>

#include "heapwalk/subject/snapshot.h"

/* Set by the caller; the rest is zero. */
struct mu_core_out {
	int fd;
	bool packed;  /* by zstd */
	bool written; /* the file is complete */
	int error;    /* errno of the first failure; 0: none */
};

/*
 * Write SNAP, of process PID, whose files below /proc are read for what the
 * memory does not have; what was written before is replaced. A failure leaves
 * the file empty. UNLOCK makes memory readable that the process has made
 * inaccessible; SNAP is as before afterwards.
 */
void mu_core_out_write(struct mu_core_out *core, const struct mu_snapshot *snap,
    pid_t pid, void (*unlock)(void *subject), void *subject);

#endif
