/* Frames after the first 16: packed, unpacked, and read by number. */
#include "lib/report/backtrace.h"

#include "lib/pipe/entries.h"
#include "tests/support/graph/packed_bytes.h"
#include "tests/support/suite.h"

static uintptr_t words[300];

/* Entries of 256, 3 and 18 frames, the last ones from WORDS. */
static void
pack(struct mu_packed *packed)
{
	static const size_t more[] = { 240, 0, 2 };
	size_t i;

	for (i = 0; i < 300; i++)
		words[i] = 1000 + i;
	for (i = 0; i < 3; i++) {
		struct mu_leak leak = {
			.num_frames = i == 1 ? 3 : 16,
			.num_more = more[i],
			.more = words + 16 * i,
		};

		leak.frames[15] = 15;
		ck_assert(mu_packed_add(packed, &leak));
	}
}

TEST(unpacked)
{
	struct mu_arena arena;
	struct mu_packed packed = { .arena = &arena };
	struct mu_entries entries;
	struct LeakBacktrace *last;
	struct Leak *leaks;
	size_t num_more;

	mu_arena_open(&arena, SIZE_MAX);
	pack(&packed);
	entries = (struct mu_entries) {
		.packed = packed_bytes(&packed), .size = packed.size, .count = 3
	};
	mu_arena_close(&arena);
	ck_assert(mu_entries_check(&entries, &num_more));
	ck_assert_uint_eq(num_more, 242);
	leaks = malloc(3 * sizeof(*leaks) + num_more * sizeof(uintptr_t));
	mu_entries_unpack(&entries, leaks);
	last = &leaks[2].backtrace;
	ck_assert_uint_eq(mu_backtrace_count(&leaks[0].backtrace), 256);
	ck_assert_uint_eq(mu_backtrace_count(&leaks[1].backtrace), 3);
	ck_assert_ptr_null(leaks[1].backtrace.more);
	ck_assert_uint_eq(mu_backtrace_count(last), 18);
	ck_assert_uint_eq(mu_backtrace_frame(&leaks[0].backtrace, 16), 1000);
	ck_assert_uint_eq(mu_backtrace_frame(&leaks[0].backtrace, 255), 1239);
	ck_assert_uint_eq(mu_backtrace_frame(last, 15), 15);
	ck_assert_uint_eq(mu_backtrace_frame(last, 17), 1033);
	last->more = NULL;
	ck_assert_uint_eq(mu_backtrace_count(last), 16);
	entries.count = 4;
	ck_assert(!mu_entries_check(&entries, &num_more));
	entries.count = 2;
	ck_assert(!mu_entries_check(&entries, &num_more));
	free(leaks);
	free(entries.packed);
}

TEST(too_many_frames)
{
	struct LeakBacktrace backtrace = { .num_frames = 17 };

	ck_assert_uint_eq(mu_backtrace_count(&backtrace), 16);
}
