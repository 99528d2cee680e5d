/* Pieces follow one another; the size of each is stored before it. */
#include "lib/malloc_debug/state/bootstrap.h"

#include <errno.h>

#define HEAD ((size_t)16) /* keeps the alignment of malloc's */

unsigned char bootstrap_memory[BOOTSTRAP_BYTES] __attribute__((aligned(4096)));

static size_t used;

void *
bootstrap_alloc(size_t alignment, size_t size)
{
	size_t from = __atomic_load_n(&used, __ATOMIC_RELAXED), at, end;

	if (alignment < HEAD)
		alignment = HEAD;
	do {
		at = (from + HEAD + alignment - 1) & ~(alignment - 1);
		if (alignment > BOOTSTRAP_BYTES || at > BOOTSTRAP_BYTES ||
		    size > BOOTSTRAP_BYTES - at) {
			errno = ENOMEM;
			return NULL;
		}
		/* Pieces of 0 bytes have distinct addresses as well. */
		end = (at + size + HEAD) & ~(HEAD - 1);
		end = end > BOOTSTRAP_BYTES ? BOOTSTRAP_BYTES : end;
	} while (!__atomic_compare_exchange_n(
	    &used, &from, end, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
	*(size_t *)(void *)(bootstrap_memory + at - HEAD) = size;
	return bootstrap_memory + at;
}

size_t
bootstrap_size(const void *pointer)
{
	return *(const size_t *)(const void *)((const char *)pointer - HEAD);
}
