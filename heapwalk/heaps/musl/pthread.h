/*
 * Offsets in musl's struct pthread, from the thread pointer, if known:
 * MU_MUSL_SELF has its own address, MU_MUSL_MAP that of the mapping with its
 * stack, whose size follows; 0 in the first thread and with a stack that the
 * program gave.
 *
 * Runs in: any.
 */
#ifndef HEAPWALK_HEAPS_MUSL_PTHREAD_H
#define HEAPWALK_HEAPS_MUSL_PTHREAD_H

#include "mu/arch/chosen.h"

#include MU_ARCH(pthread.h)

#endif
