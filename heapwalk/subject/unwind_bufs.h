/*
 * Records on a stack to which glibc unwinds when a thread ends or is cancelled
 * (struct pthread_unwind_buf in nptl/descr.h): one where a thread begins, also
 * the main thread (__libc_start_call_main), and one for each
 * pthread_cleanup_push().
 *
 * Parts of them are never written and have what earlier frames left there. An
 * int with its padding is half of an old pointer then, an address within 4 GiB
 * of any that the dynamic linker has used: every block of that size seems to be
 * in use.
 */
#ifndef HEAPWALK_SUBJECT_UNWIND_BUFS_H
#define HEAPWALK_SUBJECT_UNWIND_BUFS_H

#include "heapwalk/subject/ranges.h"
#include "heapwalk/subject/snapshot.h"

/*
 * Add to HOLES what of the records of THREAD, on its stack LIVE, holds no
 * pointer. False: no memory.
 */
bool mu_unwind_bufs_add_holes(struct mu_ranges *holes,
    const struct mu_snapshot *snap, const struct mu_thread *thread,
    struct mu_range live);

#endif
