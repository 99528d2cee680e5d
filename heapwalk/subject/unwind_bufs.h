/*
 * Records on a stack to which glibc unwinds when a thread ends or is cancelled
 * (struct pthread_unwind_buf in nptl/descr.h): one at a thread's start, also
 * the main thread's (__libc_start_call_main), and one for each
 * pthread_cleanup_push().
 *
 * Parts of them are never written and keep what earlier frames left there. An
 * int with its padding then looks like half of an old pointer, an address
 * within 4 GiB of any that the dynamic linker has used, so that every block of
 * that size seems to be in use.
 */
#ifndef HEAPWALK_SUBJECT_UNWIND_BUFS_H
#define HEAPWALK_SUBJECT_UNWIND_BUFS_H

#include "heapwalk/subject/ranges.h"
#include "heapwalk/subject/snapshot.h"

/*
 * Add to HOLES those parts of the records of THREAD, on its stack LIVE, that
 * hold no pointers. Returns false if memory is exhausted.
 */
bool mu_unwind_bufs_add_holes(struct mu_ranges *holes,
    const struct mu_snapshot *snap, const struct mu_thread *thread,
    struct mu_range live);

#endif
