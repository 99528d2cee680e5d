/*
 * With an inferred layout the walk is strict as well: sums of memory and counts
 * of tcaches must be exact, and the tcaches of all threads must have been found
 * (main.c, tcache.c, tls.c).
 */
#include "heapwalk/heaps/glibc/inferred.h"

#define KEY 8 /* offset in a tcache_entry */

/*
 * A live block that holds KEY, the word that malloc writes to entries of a
 * tcache.
 */
struct marked {
	uintptr_t key, found;
};

static bool
look_for_key(void *ctx, const struct mu_block *block)
{
	struct marked *marked = ctx;

	if (mu_range_size(block->range) >= 2 * KEY &&
	    mu_glibc_word(block->view, KEY) == marked->key)
		marked->found = block->range.begin;
	return marked->found == 0;
}

static const char *
broken_rule(const struct mu_glibc_walk *walk, struct marked *marked)
{
	if (walk->keys_differ)
		return "entries of tcaches differ in their keys";
	if (walk->heap->unproven_bytes > 0)
		return "memory that other code took by sbrk()";
	if (!walk->glibc.layout->tcache_key || marked->key == 0)
		return NULL;
	mu_blocks_each(&walk->heap->blocks, look_for_key, marked);
	return marked->found != 0 ? "has the key of a free block in a tcache"
				  : NULL;
}

enum mu_status
mu_glibc_inferred_judge(struct mu_glibc_walk *walk, enum mu_status status)
{
	struct marked marked = { .key = walk->tcache_key };
	const char *rule;

	if (status == MU_OK) {
		rule = broken_rule(walk, &marked);
		if (rule == NULL)
			return MU_OK;
		mu_why(walk->why, MU_ERR_HEAP_INCONSISTENT, "block %p: %s",
		    (void *)marked.found, rule);
	}
	return mu_glibc_not_inferred(
	    &walk->glibc, walk->snap, status, walk->why);
}
