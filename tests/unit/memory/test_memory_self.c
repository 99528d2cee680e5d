/* Views of our own image. */
#include "tests/support/heaps/image.h"
#include "tests/support/suite.h"

static struct mu_snapshot snap;

static const void *
view(const void *at, size_t size)
{
	return snap.memory.ops->view(&snap.memory, (uintptr_t)at, size);
}

TEST(view_whole_or_nothing)
{
	char *at = map_untouched(6);

	mprotect(at + 2 * image.page, image.page, PROT_NONE);
	mprotect(at + 4 * image.page, image.page, PROT_READ);
	munmap(at + 5 * image.page, image.page);
	image_open(&snap);
	ck_assert_ptr_eq(view(at, 2 * image.page), at);
	ck_assert_ptr_eq(view(at + 1, 2 * image.page - 1), at + 1);
	ck_assert_ptr_null(view(at, 2 * image.page + 1));
	ck_assert_ptr_null(view(at + 2 * image.page, 1));
	/* Across the border of two mappings that touch. */
	ck_assert_ptr_eq(
	    view(at + 3 * image.page, 2 * image.page), at + 3 * image.page);
	ck_assert_ptr_null(view(at + 3 * image.page, 2 * image.page + 1));
	ck_assert_ptr_null(view(at + 5 * image.page, 1));
	ck_assert_ptr_null(view(at, 0));
	ck_assert_ptr_null(view(at, SIZE_MAX));
	ck_assert_ptr_null(view(NULL, 8));
	ck_assert_ptr_null(view((void *)(UINTPTR_MAX - 7), 8));
}

/* Reading a register of a device can change what it does. */
TEST(view_no_device)
{
	struct mu_mapping made[] = {
		{ .range = { 0x1000, 0x2000 }, .readable = true, .name = "" },
		{ .range = { 0x2000, 0x3000 },
		    .readable = true,
		    .name = "/dev/dri/card0",
		    .shared = true },
		{ .range = { 0x3000, 0x4000 },
		    .readable = true,
		    .name = "[vvar]" },
		{ .range = { 0x4000, 0x5000 },
		    .readable = true,
		    .name = "/dev/shm/x",
		    .shared = true },
	};

	mu_memory_self_open(&snap.memory, &image.self, made, 4);
	ck_assert_ptr_nonnull(view((void *)0x1000, 0x1000));
	ck_assert_ptr_null(view((void *)0x1000, 0x1001));
	ck_assert_ptr_null(view((void *)0x2000, 8));
	ck_assert_ptr_null(view((void *)0x3000, 8));
	ck_assert_ptr_nonnull(view((void *)0x4000, 8));
}

TEST(blind_takes_all_that_is_readable)
{
	unsigned char populated[6];
	char *at = map_untouched(6);

	mprotect(at + 2 * image.page, image.page, PROT_NONE);
	image_open(&snap);
	ck_assert(snap.memory.blind);
	image_ask(&snap, at, 6, populated);
	ck_assert_mem_eq(populated, "\1\1\0\1\1\1", 6);
	ck_assert_int_eq(image.pages.pagemap, -1);
	close_self(&snap.memory);
}

SUITE(.setup = image_setup, .teardown = image_teardown);
