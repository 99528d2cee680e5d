/*
 * Packed entries as an array, to look at.
 */
#ifndef TESTS_SUPPORT_UNPACKED_H
#define TESTS_SUPPORT_UNPACKED_H

#include <check.h>
#include <stdlib.h>

#include "tests/support/packed_bytes.h"

/* free() it; frames behind the first 16 are lost, but their number is not. */
static inline __attribute__((unused)) struct mu_leak *
unpack(const struct mu_packed *packed)
{
	struct mu_leak *entries = calloc(packed->count + 1, sizeof(*entries));
	unsigned char *bytes = packed_bytes(packed);
	struct mu_packed_at at;
	size_t count = 0;

	ck_assert_ptr_nonnull(entries);
	mu_packed_open(&at, bytes, packed->size);
	while (count < packed->count && mu_packed_next(&at, &entries[count]))
		entries[count++].more = NULL;
	ck_assert(!at.damaged);
	ck_assert_uint_eq(count, packed->count);
	ck_assert_ptr_eq(at.next, at.end);
	free(bytes);
	return entries;
}

#endif
