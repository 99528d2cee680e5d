/*
 * FNV-1a: a hash of bytes, for tables whose hostile contents cost time only.
 */
#ifndef MU_HASH_H
#define MU_HASH_H

#include <stddef.h>
#include <stdint.h>

#define MU_HASH_NONE 0xcbf29ce484222325ull /* of no bytes */

/* HASH, of what was before, and of SIZE bytes behind it. */
static inline uint64_t
mu_hash_on(uint64_t hash, const void *bytes, size_t size)
{
	const unsigned char *byte = bytes;
	size_t i;

	for (i = 0; i < size; i++)
		hash = (hash ^ byte[i]) * 0x100000001b3ull;
	return hash;
}

/* The hash of SIZE bytes. */
static inline uint64_t
mu_hash_bytes(const void *bytes, size_t size)
{
	return mu_hash_on(MU_HASH_NONE, bytes, size);
}

#endif
