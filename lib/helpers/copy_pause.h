/*
 * Estimate how long copying a process will stop it.
 *
 * Runs in: keeper, original, the command.
 */
#ifndef LIB_HELPERS_COPY_PAUSE_H
#define LIB_HELPERS_COPY_PAUSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "heapwalk/memory/forked.h"

/*
 * Time in ns for a fork that copies SMALL bytes in small pages. Measured on 2
 * cores of a busy Xeon: 1 GB of small pages 40 to 60 ms, of huge pages 1 ms;
 * 2000 threads 100 ms, 60,000 mappings 270 ms.
 */
uint64_t mu_copy_pause_ns(size_t threads, size_t mappings, uint64_t small);

#define MU_COPY_RIVALS 4 /* times as long, at most, on a busy machine */

/*
 * An unchanged page of a file takes this part of the time: 512 MB 4 to 24 ms
 * where as much anonymous memory took 51 to 112.
 */
#define MU_COPY_FILES 4

/* The same on a machine that is as busy as now; LENT as below. */
uint64_t mu_copy_pause_now(
    size_t threads, size_t mappings, uint64_t small, bool lent);

/*
 * The same for process PID. Memory that a fork leaves out, such as QEMU's, and
 * huge pages take no time: FORKED has these or, if smaps cannot be read, says
 * that all memory is small pages. On a busy machine it takes longer, unless the
 * thread that forks is LENT a real-time priority: 1.2 GB took 28 to 37 ms idle
 * and beside four processes that computed.
 */
uint64_t mu_copy_pause_of(pid_t pid, size_t threads, size_t mappings, bool lent,
    struct mu_forked *forked);

/*
 * Where memory is short no thread may run before the copy exists, so there must
 * be time for one that takes so many times as long as estimated: 256 MiB were
 * seen to take over 200 ms on a busy machine.
 */
#define MU_COPY_MARGIN 4

/*
 * The part of a stop of MAX_PAUSE_NS that is kept for what is read besides the
 * copy, without a little of which that is useless.
 */
static inline uint64_t
mu_copy_pause_beside(uint64_t max_pause_ns)
{
	const uint64_t most_ns = 20 * 1000 * 1000ull,
		       part_ns = max_pause_ns / 8;

	return part_ns < most_ns ? part_ns : most_ns;
}

#endif
