/*
 * Freeze and thaw malloc as a pass does, without the pass.
 */
#ifndef TESTS_SUPPORT_HEAPS_FROZEN_H
#define TESTS_SUPPORT_HEAPS_FROZEN_H

#include <check.h>
#include <gnu/libc-version.h>
#include <stdio.h>
#include <unistd.h>

#include "heapwalk/memory/self.h"
#include "lib/state/allocator_freeze.h"
#include "lib/state/caller.h"
#include "mu/sys.h"
#include "ptrace/live/mappings.h"

/* What a pass refers to; one at a time. */
extern struct mu_caller frozen_caller;
extern struct mu_memory_self frozen_memory;

/* What lib/pass/pass.c has done before it freezes. */
enum mu_status prepare(struct mu_image *image);

/* Again if an arena was made just after the mappings were read. */
void freeze(struct mu_image *image);

void thaw(struct mu_image *image);

#endif
