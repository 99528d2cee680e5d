/*
 * Find out whether shared memory was changed while it was read: by a process
 * that no stop holds, or by write(2) to the file of pages that this process has
 * not touched, which are read after the stop.
 *
 * Runs in: sweeper, the command.
 */
#ifndef HEAPWALK_REFER_MOVED_H
#define HEAPWALK_REFER_MOVED_H

#include "heapwalk/heaps/blocks.h"
#include "heapwalk/subject/snapshot.h"

#define MU_MOVED_WORDS                                                     \
	"another process, or write(2), changed shared memory while it was" \
	" read: what only that refers to may be among these"

/* The process itself, as it is now; not owned. */
struct mu_moved_source {
	int memory;             /* its /proc/PID/mem */
	int pagemap;            /* where a file cannot be opened, only pages
				   that it has touched are read; -1: those of
				   the snapshot, without its holes */
	struct mu_range except; /* a mapping that is not read */
};

/*
 * True if the shared memory of the process has the address of an unmarked block
 * now: none was found in it, and the process had none left to store.
 */
bool mu_moved_since(struct mu_snapshot *snap, const struct mu_blocks *blocks,
    const struct mu_moved_source *source, struct mu_arena *arena);

#endif
