#ifndef HEAPWALK_HEAPS_MUSL_X86_64_PTHREAD_H
#define HEAPWALK_HEAPS_MUSL_X86_64_PTHREAD_H

/* src/internal/pthread_impl.h of 1.2.1 to 1.2.5 */
#define MU_MUSL_SELF 0
#define MU_MUSL_MAP 72 /* map_base; map_size */

#endif
