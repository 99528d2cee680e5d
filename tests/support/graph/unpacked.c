#include "tests/support/graph/unpacked.h"

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
	ck_assert(packed->num_groups > 0 || at.next == at.end);
	free(bytes);
	return entries;
}

struct mu_lost_group *
unpack_groups(const struct mu_packed *packed)
{
	struct mu_lost_group *groups =
	    calloc(packed->num_groups + 1, sizeof(*groups));
	unsigned char *bytes = packed_bytes(packed);
	struct mu_packed_at at;
	size_t i;

	ck_assert_ptr_nonnull(groups);
	mu_packed_open(&at, bytes + packed->entries_size,
	    packed->size - packed->entries_size);
	for (i = 0; i < packed->num_groups; i++)
		ck_assert(mu_packed_next_group(&at, &groups[i]));
	ck_assert_ptr_eq(at.next, at.end);
	free(bytes);
	return groups;
}
