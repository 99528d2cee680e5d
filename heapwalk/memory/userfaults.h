/*
 * Whether memory of the calling process is registered with a userfaultfd(2), of
 * this process or another.
 *
 * Runs in: sweeper, original.
 */
#ifndef HEAPWALK_MEMORY_USERFAULTS_H
#define HEAPWALK_MEMORY_USERFAULTS_H

#include "heapwalk/subject/snapshot.h"

/*
 * True if none of the private mappings of SNAP, which are those of the calling
 * process, is registered. False if one may be, or if the kernel does not tell:
 * smaps does, and takes ten times as long.
 *
 * CLOSED is a page of our own that cannot be accessed, or is empty. *TELLS,
 * false at first, is true when the kernel was seen to tell: a later call tries
 * that only if CLOSED can be accessed. Opens one or two userfaultfds, which a
 * seccomp filter might kill for, and closes them.
 */
bool mu_userfaults_none(
    const struct mu_snapshot *snap, uintptr_t closed, bool *tells);

#endif
