/*
 * The roots of this process, and what was found.
 */
#ifndef TESTS_SUPPORT_ROOTS_FOUND_H
#define TESTS_SUPPORT_ROOTS_FOUND_H

#include "heapwalk/roots/roots.h"
#include "mu/arch/cpu.h"
#include "tests/support/image.h"

static struct mu_snapshot snap;
static struct mu_heap heap;
static struct mu_roots roots;
static struct mu_thread thread;
static struct mu_why why;

static __attribute__((unused)) void
setup(void)
{
	image_setup();
	memset(&snap, 0, sizeof(snap));
	memset(&heap, 0, sizeof(heap));
	snap.pid = getpid();
	snap.threads = &thread;
	snap.num_threads = 1;
	thread = (struct mu_thread) {
		.tid = getpid(), .sp = mu_arch_sp(), .tp = mu_arch_tp()
	};
}

static __attribute__((unused)) void
check_roots(void)
{
	const struct mu_root *root;
	size_t i, bytes = 0;
	uintptr_t last = 0;

	for (i = 0; i < roots.num_ranges; i++) {
		root = &roots.ranges[i];
		ck_assert_uint_lt(root->range.begin, root->range.end);
		ck_assert_ptr_eq(root->view, (void *)root->range.begin);
		bytes += mu_range_size(root->range);
		if (root->kind == MU_ROOT_REGION)
			continue;
		ck_assert_uint_ge(root->range.begin, last);
		last = root->range.end;
	}
	ck_assert_uint_eq(bytes, roots.bytes);
}

static __attribute__((unused)) void
find(void)
{
	image_open(&snap);
	ck_assert(mu_memory_self_look(&snap.memory));
	ck_assert_int_eq(
	    mu_roots_find(&roots, &snap, &heap, &image.arena, &why), MU_OK);
	check_roots();
}

/* How many roots have the byte at ADDRESS? */
static __attribute__((unused)) int
times(const void *address)
{
	size_t i;
	int n = 0;

	for (i = 0; i < roots.num_ranges; i++)
		n += mu_range_has(roots.ranges[i].range, (uintptr_t)address);
	return n;
}

static __attribute__((unused)) enum mu_root_kind
kind_of(const void *address)
{
	size_t i;

	for (i = 0; i < roots.num_ranges; i++) {
		if (mu_range_has(roots.ranges[i].range, (uintptr_t)address))
			return roots.ranges[i].kind;
	}
	ck_abort_msg("%p is no root", address);
	return MU_ROOT_REGION;
}

static __attribute__((unused)) bool
has_value(uintptr_t value)
{
	size_t i;

	for (i = 0; i < roots.num_values; i++) {
		if (roots.values[i] == value)
			return true;
	}
	return false;
}

#endif
