/*
 * What makes an answer with leaks partial, in words that several subjects
 * share.
 *
 * Runs in: the command.
 */
#ifndef LIB_CHECK_DOUBTS_H
#define LIB_CHECK_DOUBTS_H

#include "heapwalk/refer/moved.h"
#include "lib/check/outside.h"

/*
 * Some lost blocks may be alternate signal stacks, of a subject that cannot be
 * asked for them, BECAUSE. MU_OK if none is large enough, or the program cannot
 * call sigaltstack().
 */
enum mu_status mu_doubt_stacks(
    const struct mu_check_look *look, const char *because, struct mu_why *why);

/*
 * BYTES of shared memory that the process has not touched may have data. MU_OK
 * if there are none.
 */
enum mu_status mu_doubt_untouched(size_t bytes, struct mu_why *why);

/* Shared memory was changed while it was read: heapwalk/refer/moved.h. */
enum mu_status mu_doubt_moved(struct mu_check_look *look,
    const struct mu_moved_source *source, struct mu_why *why);

#endif
