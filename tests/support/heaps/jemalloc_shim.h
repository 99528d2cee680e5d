/*
 * What the program has from its allocator, as the shim saw it: a hash table in
 * a file that both it and the judge map.
 */
#ifndef TESTS_SUPPORT_HEAPS_JEMALLOC_SHIM_H
#define TESTS_SUPPORT_HEAPS_JEMALLOC_SHIM_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#define SHIM_SLOTS ((size_t)1 << 21)
#define SHIM_GONE 1 /* an address that was freed; 0: never used */

struct shim_slot {
	_Atomic uintptr_t address;
	_Atomic size_t usable; /* malloc_usable_size() */
};

struct shim_table {
	_Atomic size_t live;
	struct shim_slot slots[SHIM_SLOTS];
};

static inline size_t
shim_hash(uintptr_t address)
{
	return (address >> 3) * 0x9e3779b97f4a7c15ull >> 43;
}

#endif
