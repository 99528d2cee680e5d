/*
 * For tests of who points at a block: made-up blocks, roots and threads, and
 * the answer. Each test file includes it once.
 */
#ifndef TESTS_SUPPORT_REFERRING_H
#define TESTS_SUPPORT_REFERRING_H

#include "heapwalk/refer/referrers.h"
#include "tests/support/marking.h"

static struct mu_snapshot snap;
static struct mu_referrers found;
static struct mu_range ours;
static struct mu_why why;

static __attribute__((unused)) void
open_case(int kind, size_t size)
{
	open_heap(kind, size);
	memset(&snap, 0, sizeof(snap));
	ours = (struct mu_range) { 0, 0 };
}

static __attribute__((unused)) enum mu_status
look_for(const void *p, uint64_t deadline_ns)
{
	/* As mu_roots_find() puts them together; the ranges are the test's. */
	memset(&found, 0, sizeof(found));
	return mu_referrers_find(&found, (uintptr_t)p, &graph_made, &roots,
	    &snap, ours, &heap.arena, deadline_ns, &why);
}

/* Mark, then look: COUNT references. */
static __attribute__((unused)) void
expect(const void *p, size_t count)
{
	size_t i;

	if (!heap.blocks.sealed)
		mark();
	ck_assert_int_eq(look_for(p, FAKE_NO_DEADLINE), MU_OK);
	ck_assert_uint_eq(found.total, count);
	ck_assert_uint_le(found.count, count);
	for (i = 0; i < found.count; i++) {
		ck_assert_uint_ge(found.items[i].kind, MU_REFERRER_GLOBAL);
		ck_assert_uint_lt(found.items[i].kind, MU_REFERRER_KINDS);
	}
}

#endif
