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
#include "mu/status.h"

struct mu_core_writing;

/* Set by the caller; the rest is zero. */
struct mu_core_out {
	int fd;
	bool packed;  /* by zstd */
	bool written; /* the file is complete */
	int error;    /* errno of the first failure; 0: none */
	struct mu_core_writing *writing; /* what has begun */
};

/*
 * Write SNAP, of process PID, whose files below /proc are read for what the
 * memory does not have; what was written before is replaced. UNLOCK makes
 * memory readable that the process has made inaccessible; SNAP is as before
 * afterwards.
 */
void mu_core_out_write(struct mu_core_out *core, const struct mu_snapshot *snap,
    pid_t pid, void (*unlock)(void *subject), void *subject);

/*
 * Complete the file by DOUBT, what its search has to say of it: see
 * MU_NT_DOUBT. A failure, now or before, leaves the file empty.
 */
void mu_core_out_end(struct mu_core_out *core, const struct mu_why *doubt);

#endif
