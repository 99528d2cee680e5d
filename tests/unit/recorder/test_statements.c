/* Single properties of the recorder's inner parts. */
#include <dlfcn.h>

#include "lib/malloc_debug/checks/guards.h"
#include "lib/malloc_debug/entry/dispatch.h"
#include "lib/malloc_debug/entry/startup.h"
#include "lib/malloc_debug/shadow/recorder.h"
#include "lib/malloc_debug/shadow/recording.h"
#include "lib/malloc_debug/state/real.h"
#include "memunreachable/malloc_debug.h"
#include "tests/support/captured_stderr.h"
#include "tests/support/recorder/recorded_blocks.h"
#include "tests/support/suite.h"

/* A program's call, which the entries would hand on so. */
static __attribute__((noinline)) void *
allocate(size_t members, size_t size, size_t alignment, bool zero)
{
	const struct request request = { members, size, alignment, zero };

	return dispatch_alloc(
	    CALL("malloc", MU_BLOCK_MALLOC, JOURNAL_MALLOC), &request);
}

static __attribute__((noinline)) void *
resize(void *block, size_t size)
{
	return dispatch_realloc(
	    CALL("realloc", MU_BLOCK_MALLOC, JOURNAL_REALLOC), block, size);
}

static __attribute__((noinline)) void
release(void *block)
{
	dispatch_free(CALL("free", MU_BLOCK_MALLOC, JOURNAL_FREE), block);
}

static bool
known(const void *block, size_t size)
{
	struct recorded_block found;

	return recorder_find(block, &found) && found.size == size &&
	    found.begin == (uintptr_t)block;
}

CASE(table, made_begin, made_end);

/* What readers go by: include/mu/recorded.h. */
TEST(stack_ids)
{
	ck_assert_uint_eq(MU_STACK_NONE, 0);
	ck_assert_uint_lt(MU_STACK_EMPTY_CHILD, MU_STACK_FIRST);
	ck_assert_uint_eq(made(8, 0x1000, 2, 0), MADE_AT);
	ck_assert_uint_ge(
	    mu_shadow_stack(live_word((void *)MADE_AT)), MU_STACK_FIRST);
	ck_assert(!recorder_stack_child(MU_STACK_NONE));
	ck_assert(!recorder_stack_child(MU_STACK_OFF));
	ck_assert(!recorder_stack_child(MU_STACK_EMPTY));
	ck_assert(recorder_stack_child(MU_STACK_OFF_CHILD));
	ck_assert(recorder_stack_child(MU_STACK_EMPTY_CHILD));
}

/* Size and stack come back as they went in, whatever the size. */
TEST(case_sizes)
{
	static const size_t sizes[] = { 1, 15, 16, 17, ((size_t)1 << 30) - 1,
		(size_t)1 << 30, ((size_t)1 << 31) - 1, (size_t)1 << 31,
		((size_t)3 << 30) + 7, ((size_t)1 << 40) + 12345,
		((size_t)1 << 47) - 1 };
	struct recorded_block found;
	uintptr_t block = 0;
	size_t i;

	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		block = made(sizes[i], 0x1000 * (i + 1), 3, MU_STACK_CHILD);
		ck_assert(recorder_find((void *)block, &found));
		ck_assert_uint_eq(found.size, sizes[i]);
		ck_assert_uint_eq(found.begin, block);
		ck_assert(!found.freed && recorder_stack_child(found.stack));
	}
	/* What lies behind its begin is no block. */
	for (i = 16; i < 64; i += 16)
		ck_assert(!recorder_find((char *)block + i, &found));
}

TEST(equal_stacks)
{
	uint32_t a, b, c;

	a = live_word((void *)made(8, 0x1000, 3, 0));
	b = live_word((void *)made(80, 0x1000, 3, 0));
	c = live_word((void *)made(8, 0x1000, 2, 0));
	ck_assert_uint_eq(mu_shadow_stack(a), mu_shadow_stack(b));
	ck_assert_uint_ne(mu_shadow_stack(a), mu_shadow_stack(c));
}

/* The options are as if the environment had asked for leak_track. */
static void
awake(void)
{
	recorder_options = (struct debug_options) {
		.leak_track = true,
		.tracking = true,
		.frames = 16,
		.max_size = SIZE_MAX,
	};
	ck_assert(startup_ready());
	ck_assert(recording_start());
	recorder_refresh();
}

CASE(calls, NULL, NULL);

TEST(disabled_on_this_thread)
{
	void *block, *seen;

	awake();
	seen = allocate(1, 100, 0, false);
	ck_assert(known(seen, 100));
	recorder_enter();
	block = allocate(1, 100, 0, false);
	ck_assert_ptr_nonnull(block);
	ck_assert(!known(block, 100));
	block = resize(block, 5000);
	ck_assert_ptr_nonnull(block);
	ck_assert(!known(block, 5000));
	release(block);
	recorder_leave();
	ck_assert(known(seen, 100));
	block = allocate(1, 100, 0, false);
	ck_assert(known(block, 100));
	release(block);
	release(seen);
	ck_assert(!known(seen, 100));
}

TEST(free_null)
{
	struct captured_stderr captured;

	awake();
	recorder_options.verify_pointers = true;
	captured_stderr_begin(&captured);
	errno = 71;
	release(NULL);
	ck_assert_int_eq(errno, 71);
	ck_assert_str_eq(captured_stderr_end(&captured), "");
}

TEST(no_bytes)
{
	void *block;

	awake();
	block = allocate(1, 0, 0, false);
	ck_assert(known(block, 1));
	release(block);
	block = allocate(0, 8, 0, true);
	ck_assert(known(block, 1));
	release(block);
	block = allocate(1, 0, 64, false);
	ck_assert(known(block, 1));
	ck_assert_uint_eq((uintptr_t)block % 64, 0);
	release(block);
}

/* No ceiling but that of size_t, with what is put around counted. */
TEST(overflow)
{
	size_t total = 0, offset;

	awake();
	recorder_options.front_guard = recorder_options.rear_guard = 32;
	recorder_options.expand_alloc = 16;
	offset = guards_offset(0);
	ck_assert_uint_eq(offset, 64);
	ck_assert(guards_total((size_t)1 << 40, offset, &total));
	ck_assert_uint_eq(total, ((size_t)1 << 40) + 120);
	ck_assert(guards_total(SIZE_MAX - 120, offset, &total));
	ck_assert(!guards_total(SIZE_MAX - 119, offset, &total));
	errno = 0;
	ck_assert_ptr_null(allocate(1, SIZE_MAX - 40, 0, false));
	ck_assert_int_eq(errno, ENOMEM);
	errno = 0;
	ck_assert_ptr_null(allocate(SIZE_MAX / 4, 5, 0, true));
	ck_assert_int_eq(errno, ENOMEM);
}

CASE(records, made_begin, made_end);

/* info_size is 0 where nothing is tracked, and only there. */
TEST(size_of_a_record)
{
	size_t overall = 1, record = 1, total = 1, frames = 1;
	uint8_t *info = NULL;

	get_malloc_leak_info(&info, &overall, &record, &total, &frames);
	ck_assert_uint_eq(record, 0);
	made(8, 0x1000, 1, 0);
	get_malloc_leak_info(&info, &overall, &record, &total, &frames);
	ck_assert_uint_eq(record, (2 + 16) * sizeof(uintptr_t));
	free_malloc_leak_info(info);
}

CASE(places, NULL, NULL);

/* As some documents have it, and as the code has it. */
TEST(both_spellings)
{
	struct debug_options a = { 0 }, b = { 0 };

	ck_assert(debug_options_parse(&a, "backtrace_enable_on_signal=7"));
	ck_assert(debug_options_parse(&b, "backtrace_enabled_on_signal=7"));
	ck_assert(a.backtrace_on_signal && !a.backtrace_enabled);
	ck_assert(b.backtrace_on_signal && !b.backtrace_enabled);
	ck_assert_uint_eq(a.frames, 7);
	ck_assert_uint_eq(b.frames, 7);
}

static const void *
object_of(const void *function)
{
	Dl_info info;

	ck_assert_int_ne(dladdr(function, &info), 0);
	return info.dli_fbase;
}

/* Each place of the chain gives a family that works, all of one object that
 * is not this one. */
TEST_LOOP(every_place, 0, REAL_PLACES)
{
	struct real_functions found = { 0 };
	const void *object;
	char *block;

	ck_assert(real_find_at(&found, (enum real_place)_i));
	object = object_of((void *)found.malloc);
	ck_assert_ptr_ne(object, object_of((void *)object_of));
	ck_assert_ptr_eq(object, object_of((void *)found.free));
	ck_assert_ptr_eq(object, object_of((void *)found.calloc));
	ck_assert_ptr_eq(object, object_of((void *)found.realloc));
	ck_assert_ptr_eq(object, object_of((void *)found.memalign));
	block = found.calloc(3, 33);
	ck_assert_int_eq(block[98], 0);
	block = found.realloc(block, 5000);
	memset(block, 1, 5000);
	/* 0: not known, and then what was asked for counts. */
	ck_assert(found.malloc_usable_size(block) == 0 ||
	    found.malloc_usable_size(block) >= 5000);
	found.free(block);
	block = found.memalign(256, 10);
	ck_assert_uint_eq((uintptr_t)block % 256, 0);
	found.free(block);
}
