#ifndef HEAPWALK_HEAPS_MUSL_AARCH64_PTHREAD_H
#define HEAPWALK_HEAPS_MUSL_AARCH64_PTHREAD_H

/* struct pthread ends at the thread pointer; its size is not known here. */

#endif
