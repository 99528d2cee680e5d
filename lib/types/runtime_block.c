#include "lib/types/runtime_block.h"

#define POOL_LEAST ((size_t)16 << 10) /* bytes */
#define ROUNDED ((size_t)24)          /* bytes by which malloc() rounds up */

/* Of GCC 12 and 14. */
static bool
has_default_size(uintptr_t size)
{
	return size == 72704 || size == 73728;
}

/*
 * libstdc++ keeps memory for exceptions that are thrown when there is none
 * (libsupc++/eh_alloc.cc). Unused it is one free entry: its size, which is that
 * of the pool, and no next one. Programs of C have blocks that begin so, too.
 */
bool
mu_runtime_block_find(const struct mu_symbols *symbols,
    const struct mu_block_head *head, struct mu_type *type)
{
	if (head->size < POOL_LEAST || head->count < 2 ||
	    head->words[0] > head->size ||
	    head->size - head->words[0] > ROUNDED || head->words[1] != 0 ||
	    (!has_default_size(head->words[0]) &&
		!mu_symbols_has_file(symbols, "/libstdc++.so")))
		return false;
	*type = (struct mu_type) {
		.name = "pool of the C++ runtime for exceptions",
		.source = MU_TYPE_CONTAINER,
	};
	return true;
}
