#include "tests/support/pass/live_answer.h"

uintptr_t lots[LOTS];

__attribute__((noinline)) void
lose_lots(size_t (*size_of)(size_t i))
{
	size_t i;

	for (i = 0; i < LOTS; i++)
		lots[i] = block_new(size_of(i));
}

__attribute__((noinline)) void
free_lots(void)
{
	size_t i;

	for (i = 0; i < LOTS; i++)
		block_free(lots[i]);
}

__attribute__((noinline)) size_t
size_constant(size_t i)
{
	(void)i;
	return 256;
}

__attribute__((noinline)) size_t
size_various(size_t i)
{
	return (i % 32 == 0 ? 200000 : 24) + (i % 256) * 32;
}

/* A pass that must be complete, with the entries. */
static __attribute__((noinline)) void
get_scrubbed(struct UnreachableMemoryInfo *info, size_t limit)
{
	*info = (struct UnreachableMemoryInfo) { .leaks = NULL };
	ck_assert_msg(GetUnreachableMemory(info, limit), "%s", info->reason);
	ck_assert_msg(
	    info->status == MEMUNREACHABLE_COMPLETE, "%s", info->reason);
	ck_assert_str_eq(info->reason, "");
	ck_assert(info->num_reported <= limit);
	ck_assert(info->num_reported <= info->num_leaks);
	ck_assert((info->leaks == NULL) == (info->num_reported == 0));
}

__attribute__((noinline)) void
get(struct UnreachableMemoryInfo *info, size_t limit)
{
	scrub();
	get_scrubbed(info, limit);
}

__attribute__((noinline)) const struct Leak *
entry_of(const struct UnreachableMemoryInfo *info, uintptr_t hidden)
{
	size_t i;

	for (i = 0; i < info->num_reported; i++) {
		if (info->leaks[i].begin == ~hidden)
			return &info->leaks[i];
	}
	return NULL;
}
