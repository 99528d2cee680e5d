/* Roots to the byte: what is left out of a mapping, and what is added. */
#include "heapwalk/heaps/glibc/pthread.h"
#include "tests/support/heaps/roots_found.h"
#include "tests/support/suite.h"

TEST(own_memory_is_left_out)
{
	char *at = map_filled(3);
	struct mu_range own[] = {
		{ (uintptr_t)at + image.page + 40,
		    (uintptr_t)at + 3 * image.page },
		{ (uintptr_t)at + 16, (uintptr_t)at + 48 },
		{ (uintptr_t)at + 32, (uintptr_t)at + 56 },
	};

	found_snap.own = own;
	found_snap.num_own = 3;
	found_find();
	ck_assert_int_eq(found_times(at), 1);
	ck_assert_int_eq(found_times(at + 15), 1);
	ck_assert_int_eq(found_times(at + 16), 0);
	ck_assert_int_eq(found_times(at + 55), 0);
	ck_assert_int_eq(found_times(at + 56), 1);
	ck_assert_int_eq(found_times(at + image.page + 39), 1);
	ck_assert_int_eq(found_times(at + image.page + 40), 0);
	ck_assert_int_eq(found_times(at + 3 * image.page - 1), 0);
}

/* These hold no pointers and are as large as a quarter of the heap. */
TEST(tables_of_a_recorder_are_left_out)
{
	char *at = map_filled(3);
	struct mu_range tables[] = {
		{ (uintptr_t)at + image.page + 8,
		    (uintptr_t)at + 2 * image.page },
		{ (uintptr_t)at + 16, (uintptr_t)at + 48 },
	};

	found_snap.tables = tables;
	found_snap.num_tables = 2;
	found_find();
	ck_assert_int_eq(found_times(at + 15), 1);
	ck_assert_int_eq(found_times(at + 16), 0);
	ck_assert_int_eq(found_times(at + 48), 1);
	ck_assert_int_eq(found_times(at + image.page + 8), 0);
	ck_assert_int_eq(found_times(at + 2 * image.page), 1);
}

/* An mmapped chunk and other memory can be one mapping. */
TEST(heap_is_left_out_to_the_byte)
{
	char *at = map_filled(2);
	struct mu_range owned[] = {
		{ (uintptr_t)at + 24, (uintptr_t)at + 100 },
		{ (uintptr_t)at + image.page, (uintptr_t)at + image.page + 8 },
	};

	found_heap.owned.items = owned;
	found_heap.owned.count = 2;
	found_find();
	ck_assert_int_eq(found_times(at + 23), 1);
	ck_assert_int_eq(found_times(at + 24), 0);
	ck_assert_int_eq(found_times(at + 99), 0);
	ck_assert_int_eq(found_times(at + 100), 1);
	ck_assert_int_eq(found_times(at + image.page - 1), 1);
	ck_assert_int_eq(found_times(at + image.page + 7), 0);
	ck_assert_int_eq(found_times(at + image.page + 8), 1);
}

TEST(below_sp_is_left_out)
{
	char *sp;

	found_find();
	sp = (char *)thread.sp;
	ck_assert_int_eq(found_times(sp), 1);
	ck_assert_int_eq(
	    found_times(sp - MU_RED_ZONE), 1); /* the red zone counts */
	ck_assert_int_eq(found_times(sp - MU_RED_ZONE - 1), 0);
}

TEST(alternate_stack_scans_both)
{
	char *alternate = map_filled(4);
	char *sp = (char *)thread.sp;

	thread.sp = (uintptr_t)alternate + 2 * image.page;
	found_find();
	ck_assert_int_eq(found_times(sp - MU_RED_ZONE - 1), 1);
	ck_assert_int_eq(found_times(sp), 1);
	ck_assert_int_eq(found_times(alternate), 1);
	ck_assert_int_eq(found_times(alternate + 3 * image.page), 1);
	ck_assert(has_value(thread.sp));
}

static void *
end_at_once(void *arg)
{
	*(uintptr_t *)arg = mu_arch_sp();
	return NULL;
}

/* Its frames and variables are dead, its DTV is a live block. */
TEST(ended_thread)
{
	uintptr_t sp;
	pthread_t ended;
	int expected = 1;

#ifdef MU_PTHREAD_SELF
	expected = 0;
#endif
	ck_assert_int_eq(pthread_create(&ended, NULL, end_at_once, &sp), 0);
	ck_assert_int_eq(pthread_join(ended, NULL), 0);
	found_find();
	ck_assert_int_eq(found_times((void *)sp), expected);
	ck_assert_int_eq(found_times((char *)ended - 1), expected);
	ck_assert_int_eq(found_times((void *)ended), 1);
	ck_assert_int_eq(found_times((char *)ended + 8), 1);
}

TEST(registered_regions)
{
	char *at = map_filled(4);
	uintptr_t base = (uintptr_t)at;
	int fd = file_of_pages("/var/tmp", 4);
	char *file = map_pages(4, MAP_SHARED, fd);
	struct mu_range owned = { base, base + 4 * image.page };
	struct mu_range own = { base + 100, base + 120 };
	struct mu_range regions[] = {
		{ base + 80, base + 200 }, /* in the heap */
		{ base + image.page + 8,
		    base + 5 * image.page },               /* partly gone */
		{ (uintptr_t)file, (uintptr_t)file + 64 }, /* shared */
		{ base + 10, base + 10 },
		{ 8, 64 },
	};

	munmap(at + 3 * image.page, image.page);
	found_heap.owned.items = &owned;
	found_heap.owned.count = 1;
	found_snap.own = &own;
	found_snap.num_own = 1;
	found_snap.root_regions = regions;
	found_snap.num_root_regions = 5;
	found_find();
	ck_assert_int_eq(found_times(at + 79), 0);
	ck_assert_int_eq(found_times(at + 80), 1);
	ck_assert_int_eq(kind_of(at + 80), MU_ROOT_REGION);
	ck_assert_int_eq(found_times(at + 110), 0);
	ck_assert_int_eq(found_times(at + 199), 1);
	ck_assert_int_eq(found_times(at + 200), 0);
	ck_assert_int_eq(found_times(at + image.page + 7), 0);
	ck_assert_int_eq(found_times(at + image.page + 8), 1);
	ck_assert_int_eq(found_times(at + 3 * image.page - 1), 1);
	ck_assert_int_eq(found_times(at + 3 * image.page), 0);
	ck_assert_int_eq(found_times(file), 1);
	close(fd);
}

TEST(values_of_all_sources)
{
	uintptr_t registers[] = { 0x1111, 0x2222 }, kernel[] = { 0x3333 };
	uintptr_t named[] = { 0x4444, 0x5555 };

	found_snap.values = registers;
	found_snap.num_values = 2;
	found_snap.kernel_values = kernel;
	found_snap.num_kernel_values = 1;
	found_snap.root_values = named;
	found_snap.num_root_values = 2;
	found_find();
	ck_assert_uint_eq(found_roots.num_values, 6);
	ck_assert(has_value(0x1111) && has_value(0x2222));
	ck_assert(has_value(0x3333));
	ck_assert(has_value(0x4444) && has_value(0x5555));
	ck_assert(has_value(thread.sp));
}

static const void *
refuse_view(struct mu_memory *memory, uintptr_t address, size_t size)
{
	(void)memory;
	(void)address;
	(void)size;
	return NULL;
}

TEST(unreadable_is_partial)
{
	struct mu_memory_ops ops;

	image_open(&found_snap);
	ck_assert(mu_memory_self_look(&found_snap.memory, &image.pages));
	ops = *found_snap.memory.ops;
	ops.view = refuse_view;
	found_snap.memory.ops = &ops;
	ck_assert_int_eq(mu_roots_find(&found_roots, &found_snap, &found_heap,
			     &image.arena, &found_why),
	    MU_PARTIAL);
	ck_assert_ptr_nonnull(strstr(found_why.text, "could not be scanned"));
	ck_assert_uint_eq(found_roots.num_ranges, 0);
}

TEST(no_memory)
{
	struct mu_range region = { (uintptr_t)&thread,
		(uintptr_t)&thread + sizeof(thread) };
	enum mu_status status;
	size_t n;

	found_snap.root_regions = found_snap.own = &region;
	found_snap.num_root_regions = found_snap.num_own = 1;
	image_open(&found_snap);
	ck_assert(mu_memory_self_look(&found_snap.memory, &image.pages));
	for (n = 1;; n++) {
		image.arena.fail_at = n;
		status = mu_roots_find(&found_roots, &found_snap, &found_heap,
		    &image.arena, &found_why);
		if (status == MU_OK)
			break;
		ck_assert_int_eq(status, MU_ERR_NO_MEMORY);
	}
	ck_assert_uint_ge(n, 5);
	image.arena.fail_at = 0;
}

SUITE(.setup = found_setup, .teardown = image_teardown);
