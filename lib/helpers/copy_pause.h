/*
 * Estimate how long a stop for copying a process takes, before it begins.
 *
 * Runs in: keeper, the command.
 */
#ifndef LIB_HELPERS_COPY_PAUSE_H
#define LIB_HELPERS_COPY_PAUSE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "heapwalk/memory/forked.h"

/*
 * In ns: of a fork that copies SMALL bytes of small pages. Measured on 2 cores
 * of a busy Xeon: 1 GB of small pages 40 to 60 ms, of huge pages 1 ms; 2000
 * threads 100 ms, 60,000 mappings 270 ms.
 */
uint64_t mu_copy_pause_ns(size_t threads, size_t mappings, uint64_t small);

/*
 * The same of process PID, which has so many. It matters what a fork leaves
 * out, as of QEMU's memory, and what is in huge pages: FORKED tells that, or,
 * where smaps cannot be read, only that all of it is small. On a busy machine
 * it takes longer.
 */
uint64_t mu_copy_pause_of(
    pid_t pid, size_t threads, size_t mappings, struct mu_forked *forked);

#endif
