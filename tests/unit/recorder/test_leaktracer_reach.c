/* lib/malloc_debug/leaktracer/reach.c with a substitute for the leak finder. */
#include "lib/malloc_debug/leaktracer/reach.h"

#include "memunreachable/memunreachable.h"
#include "tests/support/suite.h"

static bool checked;
static size_t num_blocks;
static struct Leak leaks[2];

void
recorder_enter(void)
{
}

void
recorder_leave(void)
{
}

/* Falling addresses: they need not come in order. */
__attribute__((visibility("default"))) bool
memunreachable_each_unreachable(
    void (*visit)(void *ctx, uintptr_t begin, size_t size), void *ctx)
{
	size_t i;

	for (i = num_blocks; i > 0; i--)
		visit(ctx, 0x100000 + i * 64, 32);
	return checked;
}

bool
GetUnreachableMemory(struct UnreachableMemoryInfo *info, size_t limit)
{
	ck_assert_uint_eq(limit, SIZE_MAX);
	info->leaks = leaks;
	info->num_reported = 2;
	info->num_leaks = 5;
	snprintf(info->reason, sizeof(info->reason), "%s",
	    checked ? "" : "ptrace is refused");
	return checked;
}

void
FreeUnreachableMemoryInfo(struct UnreachableMemoryInfo *info)
{
	info->leaks = NULL;
}

TEST(every_unreachable_block)
{
	struct leaktracer_reach reach;
	size_t i;

	leaktracer_reach_load();
	checked = true;
	num_blocks = 100000;
	leaktracer_reach_find(&reach);
	ck_assert(reach.checked);
	ck_assert_str_eq(reach.remark, "");
	ck_assert_uint_eq(reach.blocks.count, num_blocks);
	for (i = 1; i <= num_blocks; i++) {
		ck_assert(leaktracer_reach_lost(&reach, 0x100000 + i * 64));
		ck_assert(leaktracer_reach_lost(&reach, 0x10001f + i * 64));
		ck_assert(!leaktracer_reach_lost(&reach, 0x100020 + i * 64));
	}
	ck_assert(!leaktracer_reach_lost(&reach, 0x100000));
	leaktracer_reach_free(&reach);
	ck_assert_ptr_null(reach.blocks.items);
	leaktracer_reach_free(&reach);
}

TEST(a_heap_that_could_not_be_checked)
{
	struct leaktracer_reach reach;

	leaktracer_reach_load();
	checked = false;
	leaktracer_reach_find(&reach);
	ck_assert(!reach.checked);
	ck_assert_ptr_nonnull(strstr(reach.remark, "not filtered: "));
	leaktracer_reach_free(&reach);
}

TEST(nothing_is_loaded)
{
	struct leaktracer_reach reach;

	leaktracer_reach_find(&reach);
	ck_assert(!reach.checked);
	ck_assert_str_eq(
	    reach.remark, "not filtered: libmemunreachable.so.0 is not loaded");
	leaktracer_reach_free(&reach);
}
