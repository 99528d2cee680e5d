/*
 * Packed entries: they are unpacked unchanged, are small, and arbitrary bytes
 * are read without harm.
 */
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/pipe/entries.h"
#include "tests/support/graph/packed_bytes.h"
#include "tests/support/suite.h"

#define ENTRIES 20000

static struct mu_arena arena;
static struct mu_packed packed;
static uintptr_t more[MU_STACK_MAX_FRAMES];

static void
setup(void)
{
	mu_arena_open(&arena, SIZE_MAX);
	packed = (struct mu_packed) { .arena = &arena };
}

static void
teardown(void)
{
	mu_arena_close(&arena);
}

/* Small numbers and large ones. */
static uintptr_t
any(void)
{
	uintptr_t number = (uintptr_t)rand() << 33 ^ (uintptr_t)rand() << 11 ^
	    (uintptr_t)rand();

	return number >> (rand() % 64);
}

/* The same entry for the same SEED; frames after the first 16 are in MORE. */
static struct mu_leak
make(unsigned seed)
{
	struct mu_leak leak = { .num_frames = 0 };
	size_t i;

	srand(seed);
	leak.range.begin = any() >> 1;
	leak.range.end = leak.range.begin + (any() >> 1);
	if (rand() % 2) {
		leak.referenced_count = any();
		leak.referenced_size = any();
	}
	if (rand() % 3 == 0) {
		leak.similar_count = any();
		leak.similar_size = any();
		leak.similar_referenced_count = any();
		leak.similar_referenced_size = any();
	}
	leak.total_size = rand() % 2
	    ? any()
	    : mu_range_size(leak.range) + leak.referenced_size +
		leak.similar_size + leak.similar_referenced_size;
	if (rand() % 4 == 0) {
		leak.num_more = (size_t)rand() % (MU_STACK_MAX_FRAMES - 15);
		leak.num_frames = leak.num_more > 0 ? 16 : (size_t)rand() % 17;
	}
	for (i = 0; i < leak.num_frames; i++)
		leak.frames[i] = any();
	for (i = 0; i < leak.num_more; i++)
		more[i] = any();
	leak.more = leak.num_more > 0 ? more : NULL;
	leak.cut = rand() % 2;
	for (i = 0; i < (size_t)rand() % 33 && i < 32; i++)
		leak.contents[i] = (unsigned char)rand();
	return leak;
}

static void
expect_same(const struct mu_leak *a, const struct mu_leak *b)
{
	struct mu_leak left, right;

	memset(&left, 0, sizeof(left));
	memset(&right, 0, sizeof(right));
	ck_assert_uint_eq(a->num_more, b->num_more);
	if (a->num_more > 0)
		ck_assert_mem_eq(a->more, b->more, a->num_more * sizeof(*more));
	left = *a;
	right = *b;
	ck_assert_uint_eq(left.range.begin, right.range.begin);
	ck_assert_uint_eq(left.range.end, right.range.end);
#define SAME(field) ck_assert_uint_eq(left.field, right.field)
	SAME(referenced_count);
	SAME(referenced_size);
	SAME(similar_count);
	SAME(similar_size);
	SAME(similar_referenced_count);
	SAME(similar_referenced_size);
	SAME(total_size);
	SAME(num_frames);
	SAME(cut);
#undef SAME
	ck_assert_mem_eq(left.frames, right.frames, sizeof(left.frames));
	ck_assert_mem_eq(left.contents, right.contents, sizeof(left.contents));
}

static unsigned char *
pack_all(unsigned count)
{
	struct mu_leak leak;
	unsigned i;

	for (i = 0; i < count; i++) {
		leak = make(i);
		ck_assert(mu_packed_add(&packed, &leak));
	}
	ck_assert_uint_eq(packed.count, count);
	return packed_bytes(&packed);
}

/* In memory, in a file, and on a full disk. */
TEST_LOOP(all_come_out, 0, 3)
{
	int file =
	    _i == 1 ? memfd_create("entries", 0) : open("/dev/full", O_RDWR);
	unsigned char *bytes;
	struct mu_packed_at at;
	struct mu_leak leak, same;
	unsigned i;

	ck_assert_int_ge(file, 0);
	packed.file = _i == 0 ? NULL : &file;
	bytes = pack_all(ENTRIES);
	ck_assert_int_eq(packed.filed > 0, _i == 1);
	ck_assert_int_eq(arena.used < packed.size / 4, _i == 1);
	mu_packed_open(&at, bytes, packed.size);
	for (i = 0; mu_packed_next(&at, &leak); i++) {
		same = make(i);
		expect_same(&leak, &same);
	}
	ck_assert(!at.damaged);
	ck_assert_uint_eq(i, ENTRIES);
	free(bytes);
	close(file);
}

/*
 * No byte after the end is read, and a truncated entry is reported as damaged.
 */
TEST(any_end)
{
	unsigned char *bytes = pack_all(50), *cut;
	struct mu_packed_at at;
	struct mu_leak leak;
	size_t size, whole = 0, before;

	for (size = 0; size <= packed.size; size++) {
		cut = malloc(size > 0 ? size : 1);
		memcpy(cut, bytes, size);
		mu_packed_open(&at, cut, size);
		for (before = 0; mu_packed_next(&at, &leak);)
			before++;
		ck_assert(before >= whole);
		ck_assert(at.damaged || at.next == at.end);
		whole = before;
		free(cut);
	}
	ck_assert_uint_eq(whole, 50);
	free(bytes);
}

TEST(any_bytes)
{
	unsigned char *bytes = pack_all(200);
	struct mu_entries entries = { .packed = bytes, .size = packed.size };
	struct mu_packed_at at;
	struct mu_leak leak;
	size_t i, num_more;

	srand(1);
	for (i = 0; i < 20000; i++) {
		bytes[(size_t)rand() % packed.size] = (unsigned char)rand();
		mu_packed_open(&at, bytes, packed.size);
		for (entries.count = 0; mu_packed_next(&at, &leak);) {
			ck_assert_uint_le(leak.num_frames + leak.num_more, 256);
			ck_assert(leak.num_more == 0 || leak.num_frames == 16);
			entries.count++;
		}
		ck_assert(mu_entries_check(&entries, &num_more) == !at.damaged);
	}
	free(bytes);
}

/*
 * Unpacked, 10^6 such entries took 264 MB in the sweeper and 368 in the
 * command.
 */
TEST(one_is_small)
{
	struct mu_leak leak = { .num_frames = 0 };
	size_t i;

	for (i = 0; i < 1000; i++) {
		leak.range.begin = 0x55d0c8a04040 + 48 * i;
		leak.range.end = leak.range.begin + 40;
		leak.total_size = 40;
		ck_assert(mu_packed_add(&packed, &leak));
	}
	ck_assert_uint_le(packed.size, 1000 * 6);
}

TEST(no_memory)
{
	struct mu_leak leak = { .num_frames = 0 };

	/* A smaller piece is tried, too. */
	arena.limit = 1;
	ck_assert(!mu_packed_add(&packed, &leak));
	ck_assert_uint_eq(packed.count, 0);
	arena.limit = SIZE_MAX;
	ck_assert(mu_packed_add(&packed, &leak));
	ck_assert_uint_eq(packed.count, 1);
}

SUITE(.setup = setup, .teardown = teardown);
