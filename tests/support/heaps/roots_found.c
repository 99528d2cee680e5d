#include "tests/support/heaps/roots_found.h"

struct mu_snapshot found_snap;
struct mu_heap found_heap;
struct mu_roots found_roots;
struct mu_thread thread;
struct mu_why found_why;

void
found_setup(void)
{
	image_setup();
	memset(&found_snap, 0, sizeof(found_snap));
	memset(&found_heap, 0, sizeof(found_heap));
	found_snap.pid = getpid();
	found_snap.threads = &thread;
	found_snap.num_threads = 1;
	thread = (struct mu_thread) {
		.tid = getpid(), .sp = mu_arch_sp(), .tp = mu_arch_tp()
	};
}

void
check_roots(void)
{
	const struct mu_root *root;
	size_t i, bytes = 0;
	uintptr_t last = 0;

	for (i = 0; i < found_roots.num_ranges; i++) {
		root = &found_roots.ranges[i];
		ck_assert_uint_lt(root->range.begin, root->range.end);
		ck_assert_ptr_eq(root->view, (void *)root->range.begin);
		bytes += mu_range_size(root->range);
		if (root->kind == MU_ROOT_REGION)
			continue;
		ck_assert_uint_ge(root->range.begin, last);
		last = root->range.end;
	}
	ck_assert_uint_eq(bytes, found_roots.bytes);
}

void
found_find(void)
{
	image_open(&found_snap);
	ck_assert(mu_memory_self_look(&found_snap.memory, &image.pages));
	ck_assert_int_eq(mu_roots_find(&found_roots, &found_snap, &found_heap,
			     &image.arena, &found_why),
	    MU_OK);
	check_roots();
}

int
found_times(const void *address)
{
	size_t i;
	int n = 0;

	for (i = 0; i < found_roots.num_ranges; i++)
		n += mu_range_has(
		    found_roots.ranges[i].range, (uintptr_t)address);
	return n;
}

enum mu_root_kind
kind_of(const void *address)
{
	size_t i;

	for (i = 0; i < found_roots.num_ranges; i++) {
		if (mu_range_has(
			found_roots.ranges[i].range, (uintptr_t)address))
			return found_roots.ranges[i].kind;
	}
	ck_abort_msg("%p is no root", address);
	return MU_ROOT_REGION;
}

bool
has_value(uintptr_t value)
{
	size_t i;

	for (i = 0; i < found_roots.num_values; i++) {
		if (found_roots.values[i] == value)
			return true;
	}
	return false;
}
