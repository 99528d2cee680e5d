/*
 * The tcaches of threads that are ending: see heapwalk/glibc_tcache.h.
 *
 * Runs in: sweeper (any). Uses no malloc, no errno, no libc lock.
 */
#include "heapwalk/glibc_tcache.h"
#include "heapwalk/spans.h"

struct orphans {
	struct mu_glibc_walk *walk;
	uintptr_t *found;
	size_t count, max;
	bool no_memory;
};

static bool
see_orphan(void *ctx, const struct mu_block *block)
{
	struct orphans *orphans = ctx;
	struct mu_glibc_tcache result;
	uintptr_t *grown;

	if (!mu_glibc_tcache_plausible(orphans->walk, block->range.begin))
		return true;
	mu_glibc_tcache_check(
	    orphans->walk, block->range.begin, false, &result);
	if (result.rule != NULL || result.entries == 0)
		return true;
	if (orphans->count == orphans->max) {
		grown = mu_arena_grow(orphans->walk->memory, orphans->found,
		    orphans->max, orphans->max + 64, sizeof(*grown));
		orphans->no_memory = grown == NULL;
		if (grown == NULL)
			return false;
		orphans->found = grown;
		orphans->max += 64;
	}
	orphans->found[orphans->count++] = block->range.begin;
	return true;
}

enum mu_status
mu_glibc_orphans_take(struct mu_glibc_walk *walk, bool expected)
{
	struct mu_blocks *blocks = &walk->heap->blocks;
	struct orphans orphans = { .walk = walk };
	enum mu_status status = MU_OK;
	size_t i;

	for (i = 0; i < blocks->num_spans; i++)
		mu_span_each(&blocks->spans[i], false, see_orphan, &orphans);
	if (orphans.no_memory)
		return mu_glibc_no_memory(walk);
	if (orphans.count > 0 && !expected)
		return mu_why(walk->why, MU_ERR_HEAP_INCONSISTENT,
		    "tcache %p: no thread's TLS leads to it",
		    (void *)orphans.found[0]);
	for (i = 0; status == MU_OK && i < orphans.count; i++)
		status = mu_glibc_tcache_take(walk, orphans.found[i]);
	return status;
}
