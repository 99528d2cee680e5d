/*
 * What the program has registered: ignored objects, root regions, root
 * providers, heaps.
 *
 * Runs in: original. Safe in a signal handler unless that interrupted these
 * functions; waits at most a second for another thread.
 */
#ifndef LIB_STATE_REGISTRY_H
#define LIB_STATE_REGISTRY_H

#include "heapwalk/subject/snapshot.h"
#include "lib/state/lock.h"
#include "memunreachable/memunreachable.h"
#include "mu/arena.h"
#include "mu/log.h"
#include "mu/registered.h"

struct mu_provider {
	memunreachable_root_provider call;
	void *ctx;
};

struct mu_registry {
	struct mu_lock lock;
	struct mu_arena arena; /* memory of the arrays; never searched */
	uintptr_t *ignored;
	struct mu_range *regions;
	struct mu_provider *providers;
	struct mu_program_heap *heaps;
	struct mu_registered registered; /* for tools that look from outside */
	size_t num_ignored, max_ignored;
	size_t num_regions, max_regions;
	size_t num_providers, max_providers;
	size_t num_heaps, max_heaps;
};

/*
 * Add and remove what the program registers: an ignored object by its address,
 * a range of root memory. False: a bad value, not registered, no memory, or
 * another thread holds the lock for too long.
 */
bool mu_registry_ignore(struct mu_registry *registry, uintptr_t address);
bool mu_registry_unignore(struct mu_registry *registry, uintptr_t address);
bool mu_registry_add_region(
    struct mu_registry *registry, struct mu_range region);
bool mu_registry_drop_region(
    struct mu_registry *registry, struct mu_range region);
bool mu_registry_add_provider(
    struct mu_registry *registry, struct mu_provider provider);
bool mu_registry_drop_provider(
    struct mu_registry *registry, struct mu_provider provider);
bool mu_registry_add_heap(
    struct mu_registry *registry, const struct MemunreachableHeap *heap);
bool mu_registry_drop_heap(
    struct mu_registry *registry, const struct MemunreachableHeap *heap);

/*
 * Copy regions, ignored objects and heaps to SNAP, and call every provider for
 * its words (without holding the lock). Arrays come from ARENA.
 */
enum mu_status mu_registry_collect(struct mu_registry *registry,
    struct mu_snapshot *snap, struct mu_arena *arena, const struct mu_log *log,
    struct mu_why *why);

#endif
