/*
 * memunreachable_each_unreachable() visits every lost block in the order of
 * addresses, also those that belong to the entry of another.
 */
#include "lib/state/library.h"
#include "tests/support/pass/live_answer.h"
#include "tests/support/suite.h"

#define MAX 64

struct seen {
	uintptr_t hidden[MAX];
	size_t sizes[MAX], count;
	bool again;
};

static struct seen seen;

static void
note(void *ctx, uintptr_t begin, size_t size)
{
	struct seen *all = ctx;

	ck_assert_uint_lt(all->count, MAX);
	if (all->count > 0)
		ck_assert_uint_gt(begin, ~all->hidden[all->count - 1]);
	all->hidden[all->count] = ~begin;
	all->sizes[all->count++] = size;
	/* Nothing is locked. */
	if (all->again) {
		all->again = false;
		ck_assert(!NoLeaks());
	}
}

static __attribute__((noinline)) bool
each(void)
{
	seen.count = 0;
	scrub();
	return memunreachable_each_unreachable(note, &seen);
}

static bool
is_seen(uintptr_t hidden)
{
	size_t i;

	for (i = 0; i < seen.count; i++)
		if (seen.hidden[i] == hidden)
			return true;
	return false;
}

static __attribute__((noinline)) void
link_blocks(uintptr_t from, uintptr_t to)
{
	*(void **)mu_reveal(from) = mu_reveal(to);
}

static void
expect_chain(void)
{
	uintptr_t first = block_new(256), second = block_new(512);

	link_blocks(first, second);
	seen.again = true;
	ck_assert(each());
	ck_assert_uint_eq(seen.count, 2);
	ck_assert(is_seen(first) && is_seen(second));
	ck_assert(seen.sizes[0] >= 256 && seen.sizes[1] >= 256);
	ck_assert(each());
	ck_assert_uint_eq(seen.count, 2);
	block_free(first);
	ck_assert(each());
	ck_assert_uint_eq(seen.count, 1);
	ck_assert(is_seen(second));
	block_free(second);
	ck_assert(each());
	ck_assert_uint_eq(seen.count, 0);
}

TEST(folded_ones_too)
{
	expect_chain();
}

TEST(lost_in_both_looks)
{
	mu_library.options.confirm = true;
	expect_chain();
}

TEST(not_checked)
{
	mu_library.options.timeout = 0;
	ck_assert(!each());
	ck_assert_uint_eq(seen.count, 0);
}
