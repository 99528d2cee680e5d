#include "tests/support/graph/answer_array.h"

void
answer_array(struct mu_report *answer)
{
	struct mu_entries *entries = &answer->entries;
	struct UnreachableMemoryInfo *info = &answer->info;
	size_t num_more = 0;

	info->leaks = NULL;
	if (entries->count == 0)
		return;
	ck_assert(mu_entries_check(entries, &num_more));
	ck_assert_uint_eq(entries->count, info->num_reported);
	info->leaks = calloc(1,
	    entries->count * sizeof(*info->leaks) +
		num_more * sizeof(uintptr_t));
	ck_assert_ptr_nonnull(info->leaks);
	mu_entries_unpack(entries, info->leaks);
}
