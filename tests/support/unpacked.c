#include "tests/support/unpacked.h"

struct mu_leak *
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
