/*
 * The release of a glibc that does not tell it: of a static program, or of a
 * core whose libc is not here.
 */
#ifndef LIB_CHECK_RELEASE_GUESS_H
#define LIB_CHECK_RELEASE_GUESS_H

#include "heapwalk/subject/snapshot.h"
#include "mu/status.h"

/*
 * Read the heap of SNAP by the layout of each release that is known, nothing
 * allowed for. If one fits, or several that find the same blocks, SNAP takes
 * that for its release, as inferred (snap->glibc_inferred). LIMIT: bytes for
 * tables. MU_ERR_UNKNOWN_GLIBC with WHY: none fits, or several that differ.
 */
enum mu_status mu_release_guess(
    struct mu_snapshot *snap, size_t limit, struct mu_why *why);

#endif
