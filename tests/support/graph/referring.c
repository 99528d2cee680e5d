#include "tests/support/graph/referring.h"

struct mu_snapshot referring_snap;
struct mu_referrers found;
struct mu_range ours;
struct mu_why referring_why;

void
open_case(int kind, size_t size)
{
	marking_open_heap(kind, size);
	memset(&referring_snap, 0, sizeof(referring_snap));
	ours = (struct mu_range) { 0, 0 };
}

enum mu_status
look_for(const void *p, uint64_t deadline_ns)
{
	/* As mu_roots_find() puts them together; the ranges are the test's. */
	memset(&found, 0, sizeof(found));
	return mu_referrers_find(&found, (uintptr_t)p, &marking_graph,
	    &marking_roots, &referring_snap, ours, &marking_heap.arena,
	    deadline_ns, &referring_why);
}

void
expect(const void *p, size_t count)
{
	size_t i;

	if (!marking_heap.blocks.sealed)
		mark();
	ck_assert_int_eq(look_for(p, FAKE_NO_DEADLINE), MU_OK);
	ck_assert_uint_eq(found.total, count);
	ck_assert_uint_le(found.count, count);
	for (i = 0; i < found.count; i++) {
		ck_assert_uint_ge(found.items[i].kind, MU_REFERRER_GLOBAL);
		ck_assert_uint_lt(found.items[i].kind, MU_REFERRER_KINDS);
	}
}
