#ifndef HEAPWALK_HEAPS_GLIBC_AARCH64_PTHREAD_H
#define HEAPWALK_HEAPS_GLIBC_AARCH64_PTHREAD_H

/*
 * TLS variant I: struct pthread lies right below the thread pointer, and its
 * size grows from release to release. It does not hold its own address, so it
 * cannot be recognised after its thread has ended.
 */
#define MU_PTHREAD_SEARCH 0xa00
#define MU_PTHREAD_BYTES 0
#define MU_TCB_DTV 0

#endif
