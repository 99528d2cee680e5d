/*
 * A checkpoint: the blocks that are unreachable when it is made.
 *
 * Runs in: original.
 */
#ifndef LIB_PASS_CHECKPOINT_H
#define LIB_PASS_CHECKPOINT_H

#include "lib/pass/request.h"

/*
 * Make one by a pass that fills INFO (zeroed by the caller). Blocks of EARLIER,
 * which may be NULL, that are still allocated are in it as well. NULL if the
 * heap was not checked or memory is exhausted, which is logged. Release it with
 * mu_results_free().
 */
struct mu_checkpoint *mu_checkpoint_ask(const struct mu_caller *caller,
    const struct mu_checkpoint *earlier, struct UnreachableMemoryInfo *info);

#endif
