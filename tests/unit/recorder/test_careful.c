/*
 * Guards, fills, expansion and blocks held back, called as the entry points
 * call them. The messages are tested by tests/recorder/core_errors.sh.
 */
#include "lib/malloc_debug/checks/block.h"
#include "lib/malloc_debug/checks/fill.h"
#include "lib/malloc_debug/checks/guards.h"
#include "lib/malloc_debug/checks/quarantine.h"
#include "lib/malloc_debug/entry/careful.h"
#include "lib/malloc_debug/shadow/live.h"
#include "lib/malloc_debug/shadow/recorder.h"
#include "lib/malloc_debug/shadow/recording.h"
#include "lib/malloc_debug/shadow/stack_id.h"
#include "lib/malloc_debug/state/real.h"
#include "tests/support/suite.h"

static struct call call;

static void
setup(void)
{
	memset(&recorder_options, 0, sizeof(recorder_options));
	recorder_options.max_size = SIZE_MAX;
	recorder_options.frames = 16;
	call = (struct call) { .function = "test", .op = JOURNAL_MALLOC };
	if (real.malloc == NULL)
		real_find();
}

/* With the options as they are by now. */
static void
start(void)
{
	recorder_options.tracking = true;
	ck_assert(recording_start());
	ck_assert(recording_on && recording_all);
}

static unsigned char *
allocate(size_t size, size_t alignment)
{
	struct request request = {
		.members = 1, .size = size, .alignment = alignment
	};

	return careful_alloc(&call, &request);
}

/* Are COUNT bytes from BYTES on all VALUE? */
static bool
all(const unsigned char *bytes, size_t count, unsigned value)
{
	while (count > 0 && bytes[count - 1] == value)
		count--;
	return count == 0;
}

TEST_LOOP(test_md10_guards_lie_around, 0, 20)
{
	static const size_t fronts[] = { 0, 16, 32, 4096, 16384 };
	static const size_t rears[] = { 0, 1, 32, 16384 };
	size_t front = fronts[_i % 5], rear = rears[_i / 5], alignment, size;
	unsigned char *block;

	recorder_options.front_guard = front;
	recorder_options.rear_guard = rear;
	start();
	for (alignment = 0; alignment <= 65536;
	     alignment = alignment == 0 ? 16 : alignment * 4) {
		for (size = 1; size < 5000; size = size * 5 + 1) {
			block = allocate(size, alignment);
			ck_assert_ptr_nonnull(block);
			ck_assert_uint_eq((uintptr_t)block %
				(alignment == 0 ? 16 : alignment),
			    0);
			ck_assert_uint_eq(live_size(block), size);
			ck_assert(all(block - front, front, GUARDS_FRONT));
			ck_assert(all(block + size, rear, GUARDS_REAR));
			memset(block, 0, size);
			careful_free(&call, block);
			ck_assert_uint_eq(live_word(block), 0);
		}
	}
	/* The most bytes before a block that a reader reads. */
	ck_assert_uint_le(
	    memunreachable_recorded.max_guard, 65536 + front + 32);
	ck_assert(
	    front == 0 || memunreachable_recorded.max_guard >= front + 32);
}

TEST(test_md59_usable_size)
{
	unsigned char *block;

	recorder_options.rear_guard = 8;
	start();
	block = allocate(33, 0);
	ck_assert_uint_eq(careful_usable_size(&call, block), 33);
	careful_free(&call, block);
}

TEST(test_md59_usable_size_front)
{
	unsigned char *block;
	size_t usable;

	recorder_options.front_guard = 16;
	start();
	block = allocate(33, 0);
	usable = careful_usable_size(&call, block);
	ck_assert_uint_ge(usable, 33);
	memset(block, 1, usable);
	careful_free(&call, block);
}

TEST(test_md16_overflow)
{
	recorder_options.front_guard = recorder_options.rear_guard = 32;
	recorder_options.expand_alloc = 100;
	start();
	errno = 0;
	ck_assert_ptr_null(allocate(SIZE_MAX - 50, 0));
	ck_assert_int_eq(errno, ENOMEM);
	errno = 0;
	ck_assert_ptr_null(allocate(SIZE_MAX / 2 + 1, 0));
	ck_assert_int_eq(errno, ENOMEM);
}

TEST(test_md17_no_bytes_are_one)
{
	unsigned char *block;

	recorder_options.rear_guard = 4;
	start();
	block = allocate(0, 0);
	ck_assert_ptr_nonnull(block);
	ck_assert_uint_eq(live_size(block), 1);
	/* That byte is part of the guard. */
	ck_assert_uint_eq(careful_usable_size(&call, block), 0);
	careful_free(&call, block);
}

/* Equal size and shrinking in place, growing by copy. */
TEST(test_md19_realloc_with_guards)
{
	unsigned char *block, *moved;
	size_t i;

	recorder_options.front_guard = recorder_options.rear_guard = 16;
	start();
	block = allocate(100, 0);
	for (i = 0; i < 100; i++)
		block[i] = (unsigned char)i;
	ck_assert_ptr_eq(careful_realloc(&call, block, 100), block);
	ck_assert_ptr_eq(careful_realloc(&call, block, 60), block);
	ck_assert_uint_eq(live_size(block), 60);
	ck_assert(all(block + 60, 16, GUARDS_REAR));
	moved = careful_realloc(&call, block, 5000);
	for (i = 0; i < 60; i++)
		ck_assert_uint_eq(moved[i], i);
	ck_assert(all(moved + 5000, 16, GUARDS_REAR));
	ck_assert_uint_eq(live_word(block), 0);
	errno = 0;
	ck_assert_ptr_null(careful_realloc(&call, moved, SIZE_MAX / 2));
	ck_assert_uint_eq(live_size(moved), 5000);
	careful_free(&call, moved);
}

TEST(test_md19_failing_realloc_keeps_the_entry)
{
	unsigned char *block;

	recorder_options.expand_alloc = 16;
	start();
	block = allocate(100, 0);
	ck_assert_ptr_null(careful_realloc(&call, block, SIZE_MAX / 2));
	ck_assert_int_eq(errno, ENOMEM);
	ck_assert_ptr_null(careful_realloc(&call, block, SIZE_MAX - 3));
	ck_assert_uint_eq(live_size(block), 100);
	ck_assert_uint_ne(live_word(block), 0);
	careful_free(&call, block);
}

TEST(test_expand_alloc)
{
	unsigned char *block;

	recorder_options.expand_alloc = 1000;
	start();
	block = allocate(10, 0);
	ck_assert_uint_ge(careful_usable_size(&call, block), 1010);
	ck_assert_uint_eq(live_size(block), 10);
	careful_free(&call, block);
}

/* fill_on_alloc_partial, and the part that realloc() adds. */
TEST(test_fill_on_alloc)
{
	unsigned char *block;

	recorder_options.fill_on_alloc = 20;
	start();
	block = allocate(10, 0);
	ck_assert(all(block, 20, FILL_ALLOC));
	memset(block, 0, 20);
	careful_free(&call, block);
	recorder_options.fill_on_alloc = SIZE_MAX;
	block = allocate(10, 0);
	memset(block, 0, 10);
	block = careful_realloc(&call, block, 5000);
	ck_assert(all(block, 10, 0));
	ck_assert(all(block + 4000, 1000, FILL_ALLOC));
	careful_free(&call, block);
}

/* As much as was filled is checked; the block is still there. */
TEST(test_md14_fill_on_free)
{
	unsigned char *block;

	recorder_options.free_track = 4;
	recorder_options.fill_on_free = 10;
	start();
	ck_assert(quarantine_init(4));
	block = allocate(100, 0);
	memset(block, 1, 100);
	careful_free(&call, block);
	ck_assert(all(block, 10, FILL_FREE));
	ck_assert(all(block + 10, 90, 1));
	block[50] = 9; /* not seen */
	quarantine_check();
}

/* First in, first out; marked in its word until then. */
TEST_LOOP(test_free_track_order, 0, 2)
{
	unsigned char *blocks[10];
	size_t i, j;

	recorder_options.free_track = 3;
	recorder_options.fill_on_free = SIZE_MAX;
	recorder_options.front_guard = _i == 0 ? 0 : 32;
	start();
	ck_assert(quarantine_init(3));
	for (i = 0; i < 10; i++)
		blocks[i] = allocate(100 + i, 0);
	for (i = 0; i < 10; i++) {
		careful_free(&call, blocks[i]);
		for (j = 0; j < 10; j++) {
			uint32_t word = live_word(blocks[j]);

			ck_assert(i >= 3 && j <= i - 3 ? word == 0
						       : word != 0 &&
				    ((word & MU_SHADOW_FREED) != 0) ==
					(j <= i));
		}
	}
}

TEST(test_tags)
{
	unsigned char *block;
	uint32_t tag = 0;

	recorder_options.front_guard = 16;
	start();
	block = allocate(100, 256);
	ck_assert(guards_tag(block, GUARDS_LIVE, &tag));
	ck_assert_uint_eq(tag, GUARDS_LIVE);
	guards_set_tag(block, GUARDS_FREED);
	ck_assert(!guards_tag(block, GUARDS_LIVE, &tag));
	ck_assert_uint_eq(tag, GUARDS_FREED);
	guards_set_tag(block, GUARDS_LIVE);
	/* The tag is whole, where the block began is not. */
	block[-16 - 24] ^= 1;
	ck_assert(!guards_tag(block, GUARDS_LIVE, &tag));
	block[-16 - 24] ^= 1;
	careful_free(&call, block);
}

/* What is not known passes by, with guards as well. */
TEST(test_md20_unknown_blocks_pass)
{
	struct request request = { .members = 1, .size = 40 };
	unsigned char *block;

	recorder_options.front_guard = recorder_options.rear_guard = 16;
	recorder_options.free_track = 3;
	recorder_options.fill_on_free = SIZE_MAX;
	start();
	ck_assert(quarantine_init(3));
	block = real.malloc(100);
	ck_assert_uint_ge(careful_usable_size(&call, block), 100);
	block = careful_realloc(&call, block, 1000);
	ck_assert_ptr_nonnull(block);
	ck_assert_uint_eq(live_word(block), 0);
	careful_free(&call, block);
	/* The recorder's own: known where pointers are verified. */
	recorder_options.verify_pointers = true;
	block = careful_bare(&request);
	ck_assert_uint_eq(mu_shadow_stack(live_word(block)), RECORDER_BARE);
	ck_assert(!recorder_find(block, &(struct recorded_block) { 0 }));
	block = careful_realloc(&call, block, 1000);
	ck_assert_ptr_nonnull(block);
	careful_free(&call, block);
}

TEST(test_calloc_zeroes_and_overflows)
{
	struct request request = { .members = 10, .size = 9, .zero = true };
	unsigned char *block;

	recorder_options.front_guard = recorder_options.rear_guard = 16;
	recorder_options.fill_on_alloc = SIZE_MAX;
	start();
	block = careful_alloc(&call, &request);
	ck_assert(all(block, 90, 0));
	careful_free(&call, block);
	request.members = SIZE_MAX / 4;
	errno = 0;
	ck_assert_ptr_null(careful_alloc(&call, &request));
	ck_assert_int_eq(errno, ENOMEM);
}

SUITE(.setup = setup);
