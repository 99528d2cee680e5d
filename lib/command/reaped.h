/*
 * Tell whether the kernel is freeing the memory of a process that still exists.
 *
 * When a memory cgroup or the machine is full, the kernel frees the memory of a
 * process that is ending (oom_reaper, from 2 s after on; process_mrelease(2) at
 * any time). The process stays as long as its tracer holds it, with page tables
 * that are empty.
 *
 * A read of a page that was never touched would tell the same (MMF_UNSTABLE),
 * but where the kernel has no shared page of zeros it allocates one in the full
 * cgroup, and waits there until the memory is freed.
 *
 * Runs in: the command.
 */
#ifndef LIB_COMMAND_REAPED_H
#define LIB_COMMAND_REAPED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "heapwalk/subject/snapshot.h"

#define MU_REAPED_PAGES 9

/* Pages that have contents, among them those that are freed first. */
struct mu_reaped {
	uintptr_t pages[MU_REAPED_PAGES];
	size_t count, page_size;
	int pagemap;    /* the caller's */
	bool has_begun; /* some were freed before they could be noted */
};

/*
 * Note pages of a stopped process that has these mappings, COUNT of them in
 * the order of addresses. PAGEMAP is its file in /proc, PROGRAM the name of the
 * file that it runs.
 */
void mu_reaped_open(struct mu_reaped *reaped, const struct mu_mapping *mappings,
    size_t count, size_t page_size, int pagemap, const char *program);

/*
 * True if memory of the process may be gone that it had. If this is false, all
 * that was read since mu_reaped_open() is right.
 */
bool mu_is_reaped(const struct mu_reaped *reaped);

#endif
