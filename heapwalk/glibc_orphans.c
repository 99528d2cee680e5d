/*
 * The tcaches that no thread has any more: see heapwalk/glibc_tcache.h.
 *
 * Runs in: sweeper (any). Uses no malloc, no errno, no libc lock.
 */
#include "heapwalk/glibc_tcache.h"

void
mu_glibc_suspect_add(struct mu_glibc_walk *walk, uintptr_t address)
{
	size_t max = walk->max_suspects ? 2 * walk->max_suspects : 256;
	uintptr_t *grown;

	if (walk->num_suspects == walk->max_suspects) {
		grown = mu_arena_grow(walk->memory, walk->suspects,
		    walk->max_suspects, max, sizeof(*grown));
		if (grown == NULL) {
			walk->suspects_lost = true;
			return;
		}
		walk->suspects = grown;
		walk->max_suspects = max;
	}
	walk->suspects[walk->num_suspects++] = address;
}

/* An empty one is not told from a block of zeros. */
static bool
is_orphan(const struct mu_glibc_walk *walk, uintptr_t address)
{
	struct mu_glibc_tcache result;

	if (!mu_glibc_tcache_plausible(walk, address))
		return false;
	mu_glibc_tcache_check(walk, address, false, &result);
	return result.rule == NULL && result.entries > 0;
}

enum mu_status
mu_glibc_orphans_take(struct mu_glibc_walk *walk, bool expected)
{
	enum mu_status status = MU_OK;
	size_t i;

	if (walk->suspects_lost)
		return mu_glibc_no_memory(walk);
	for (i = 0; status == MU_OK && i < walk->num_suspects; i++) {
		if (!is_orphan(walk, walk->suspects[i]))
			continue;
		if (!expected)
			return mu_why(walk->why, MU_ERR_HEAP_INCONSISTENT,
			    "tcache %p: no thread's TLS leads to it",
			    (void *)walk->suspects[i]);
		status = mu_glibc_tcache_take(walk, walk->suspects[i]);
	}
	return status;
}
