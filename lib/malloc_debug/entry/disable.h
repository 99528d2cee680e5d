/*
 * Threads whose new blocks are not reported: memunreachable_disable() calls
 * what is declared here.
 *
 * Runs in: the original, any thread.
 */
#ifndef LIB_MALLOC_DEBUG_ENTRY_DISABLE_H
#define LIB_MALLOC_DEBUG_ENTRY_DISABLE_H

#include <stdbool.h>

#include "mu/recorded.h"

/* KIND for a block of the calling thread: MU_BLOCK_IGNORED if it says so. */
enum mu_block_kind disable_kind(enum mu_block_kind kind);

/*
 * Nest. False: nothing is recorded, as another tool replaces malloc or memory
 * is exhausted; or the thread was not disabled.
 */
bool memunreachable_recorder_disable(void);
bool memunreachable_recorder_enable(void);

#endif
