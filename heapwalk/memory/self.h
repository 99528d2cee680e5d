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

/* The page in which a thread faulted last. */
struct mu_last_fault {
	long thread; /* its tid; 0: unused */
	uintptr_t page;
};

struct mu_memory_self {
	const struct mu_mapping *mappings; /* by address, no overlaps */
	size_t num_mappings;
	const struct mu_mapping *last; /* of the last view; atomic */
	struct mu_pages *pages;        /* NULL: not asked */

	/* The fault guard; see mu_memory_self_guard(). */
	bool guarded;
	char *signal_stack;
	int mending; /* lock: one thread repairs at a time */
	struct mu_last_fault last_faults[MU_WORKERS_MAX];
	struct mu_signal_action old_actions[2];
	stack_t old_stack;
	uint64_t old_mask;
};

/*
 * Make MEMORY a view of ourselves as MAPPINGS describe us (kept, not copied).
 * SELF, and once guarded also MEMORY, must stay where they are. Opens no file:
 * until mu_memory_self_look(), populated() counts every page.
 */
void mu_memory_self_open(struct mu_memory *memory, struct mu_memory_self *self,
    const struct mu_mapping *mappings, size_t num_mappings);

/*
 * Make populated() ask the kernel by PAGES (heapwalk/memory/pages.h), which is
 * opened, for an image that does not change. Returns false, and sets
 * memory->blind, if /proc/self/pagemap cannot be read.
 */
bool mu_memory_self_look(struct mu_memory *memory, struct mu_pages *pages);

/*
 * Then ask for all pages in one call, if the kernel can: worth it for a small
 * program only, as most pages of a large one are its heap's.
 */
void mu_memory_self_ask_at_once(struct mu_memory *memory);

/*
 * From now on a fault inside a readable mapping maps a page of zeros there,
 * counts it in memory->skipped_pages and continues. A fault elsewhere kills us
 * as before. Only for the sweeper, whose image is private. Any of its threads
 * may fault. First restores what fork left out, as GAPS describes; what cannot
 * be restored is zeros, and counted as skipped.
 *
 * MU_ERR_NO_MEMORY: the guard could not be installed.
 */
enum mu_status mu_memory_self_guard(
    struct mu_memory *memory, struct mu_fork_gaps *gaps, struct mu_why *why);

/*
 * Make private memory readable that has data and that the program has protected
 * (mprotect: PROT_NONE, write only, execute only), as guarding allocators do.
 * It becomes readable in this image and in MAPPINGS, with which MEMORY was
 * opened. Call after mu_memory_self_look(), and after the heap has been listed,
 * which relies on protections. Only for the sweeper.
 */
void mu_memory_self_unlock(
    struct mu_memory *memory, struct mu_mapping *mappings, size_t num_mappings);

/*
 * Is there any that mu_memory_self_unlock() would make readable? Changes
 * nothing.
 */
bool mu_memory_self_any_locked(struct mu_memory *memory,
    const struct mu_mapping *mappings, size_t num_mappings);

/*
 * True if a page of MAPPING was written, now or before the fork. Works only for
 * private memory without a file, after mu_memory_self_look(), and since Linux
 * 6.7; otherwise false.
 */
bool mu_memory_self_holds(
    struct mu_memory *memory, const struct mu_mapping *mapping);

/* The mapping that holds ADDRESS, or the next one, or NULL. */
const struct mu_mapping *mu_memory_self_mapping(
    const struct mu_memory_self *self, uintptr_t address);

/* Undo the guard. Accepts MEMORY that was only opened. */
void mu_memory_self_unguard(struct mu_memory *memory);

#endif
