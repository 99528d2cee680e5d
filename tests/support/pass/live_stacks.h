/*
 * For tests of stacks: a thread that holds a pointer until it is sent on.
 */
#ifndef TESTS_SUPPORT_PASS_LIVE_STACKS_H
#define TESTS_SUPPORT_PASS_LIVE_STACKS_H

#include <sys/mman.h>

#include "tests/support/live.h"

/* The pointer lives where BODY puts it until BODY parks a second time. */
void expect_worker_root(void (*body)(struct worker *), void *context);

void *map_stack(void);

#endif
