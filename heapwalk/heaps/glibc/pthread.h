/*
 * Offsets in glibc's struct pthread, which is a thread's descriptor.
 *
 * - MU_TCB_DTV: of tcbhead_t.dtv from the thread pointer.
 * - MU_PTHREAD_BYTES: how much of struct pthread lies above the thread pointer,
 *   at least.
 * - MU_PTHREAD_SEARCH, if defined: only its end is known, at the thread
 *   pointer; stack block and size are within this many bytes below that.
 * - MU_PTHREAD_SELF and all others, if defined: offsets from its beginning,
 *   which is at the thread pointer.
 *
 * Runs in: any.
 */
#ifndef HEAPWALK_HEAPS_GLIBC_PTHREAD_H
#define HEAPWALK_HEAPS_GLIBC_PTHREAD_H

#include "mu/arch/chosen.h"

#include MU_ARCH(pthread.h)

#endif
