/*
 * The memory of our own address space: the sweeper's copy-on-write image, or
 * the original while it reads libc's data.
 *
 * Runs in: original, sweeper.
 */
#ifndef HEAPWALK_MEMORY_SELF_H
#define HEAPWALK_MEMORY_SELF_H

#include "heapwalk/memory/fork_gaps.h"
#include "heapwalk/memory/pages.h"
#include "heapwalk/subject/snapshot.h"
#include "heapwalk/subject/workers.h"
#include "mu/signal_action.h"
#include "mu/status.h"

/* The page that a thread's last fault was in. */
struct mu_last_fault {
	long thread; /* its id; 0: no thread yet */
	uintptr_t page;
};

struct mu_memory_self {
	const struct mu_mapping *mappings; /* by address, no overlaps */
	size_t num_mappings;
	bool has_pages;
	struct mu_pages pages;

	/* The fault guard; see mu_memory_self_guard(). */
	bool guarded;
	char *signal_stack;
	int mending; /* a lock: one thread at a time */
	struct mu_last_fault last_faults[MU_WORKERS_MAX];
	struct mu_signal_action old_actions[2];
	stack_t old_stack;
	uint64_t old_mask;
};

/*
 * MEMORY becomes a view of ourselves as MAPPINGS describe us (kept, not
 * copied); SELF, and once guarded MEMORY too, must stay where it is. Opens
 * nothing: populated() takes every page for one that counts, until
 * mu_memory_self_look().
 */
void mu_memory_self_open(struct mu_memory *memory, struct mu_memory_self *self,
    const struct mu_mapping *mappings, size_t num_mappings);

/*
 * Have populated() ask the kernel (heapwalk/memory/pages.h), for an image that
 * stands still. False: /proc/self/pagemap cannot be read; memory->blind says so
 * too.
 */
bool mu_memory_self_look(struct mu_memory *memory);

/*
 * From now on a fault inside a readable mapping puts a page of zeros there,
 * counts it in memory->skipped_pages and goes on. A fault elsewhere kills us as
 * it would have without. Only for the sweeper: its image is private. Any of its
 * threads may fault. First fills what fork left out, as far as GAPS says from
 * where; the rest is zeros, counted as skipped.
 *
 * MU_ERR_NO_MEMORY: the guard could not be installed.
 */
enum mu_status mu_memory_self_guard(
    struct mu_memory *memory, struct mu_fork_gaps *gaps, struct mu_why *why);

/*
 * Make private memory readable that holds data and that the program has
 * protected for a while (mprotect: PROT_NONE, write only, execute only), as
 * guarded allocations are while they are not in use. It becomes readable in
 * this image, and in MAPPINGS, which MEMORY was opened with. Call after
 * mu_memory_self_look(), and after the heap has been listed, which relies on
 * protections too. Only for the sweeper.
 */
void mu_memory_self_unlock(
    struct mu_memory *memory, struct mu_mapping *mappings, size_t num_mappings);

/*
 * Has a page of MAPPING been written, now or before a fork? Only of private
 * memory without a file, after mu_memory_self_look(), and since Linux 6.7:
 * else false.
 */
bool mu_memory_self_holds(
    struct mu_memory *memory, const struct mu_mapping *mapping);

/* Undo guard and look; accepts what was only opened. */
void mu_memory_self_close(struct mu_memory *memory);

/* The mapping that holds ADDRESS, or else the first one behind, or NULL. */
const struct mu_mapping *mu_memory_self_mapping(
    const struct mu_memory_self *self, uintptr_t address);

/* The second half of mu_memory_self_close(). */
void mu_memory_self_unguard(struct mu_memory *memory);

#endif
