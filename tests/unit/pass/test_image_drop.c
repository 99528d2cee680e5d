/*
 * lib/helpers/image_drop.c: an image unmaps the memory of the program, and
 * nothing of ours: at its end, and the heap as soon as it has been read.
 */
#include "lib/helpers/image_drop.h"
#include "mu/arch/cpu.h"
#include "tests/support/pthread_workers.h"
#include "tests/support/suite.h"

#define MIB ((size_t)1 << 20)

static struct mu_mapping mappings[4];
static struct mu_image image;

static char *
add(size_t size, bool writable, bool shared)
{
	char *at = mmap(NULL, size, PROT_READ | PROT_WRITE,
	    (shared ? MAP_SHARED : MAP_PRIVATE) | MAP_ANONYMOUS, -1, 0);
	size_t i;

	ck_assert_ptr_ne(at, MAP_FAILED);
	for (i = 0; i < size; i += 4096)
		at[i] = 1;
	mappings[image.snap.num_mappings++] = (struct mu_mapping) {
		.range = { (uintptr_t)at, (uintptr_t)at + size },
		.readable = true,
		.writable = writable,
		.shared = shared,
		.name = "",
	};
	return at;
}

static size_t
left(const char *at, size_t size)
{
	size_t i, pages = 0;

	for (i = 0; i < size; i += 4096)
		pages += at[i] != 0;
	return pages;
}

TEST_LOOP(theirs_only, 0, 2)
{
	struct mu_workers workers = pthread_workers(2);
	struct mu_range own;
	char *big, *ours, *closed, *shared;

	image.snap.mappings = mappings;
	image.snap.num_mappings = 0;
	image.snap.workers = _i == 0 ? &workers : NULL;
	big = add(100 * MIB + 4096, true, false);
	ours = add(8 * MIB, true, false);
	closed = add(8 * MIB, false, false);
	shared = add(8 * MIB, true, true);
	own.begin = (uintptr_t)ours + MIB;
	own.end = own.begin + 4096;
	image.snap.own = &own;
	image.snap.num_own = 1;
	mu_image_drop(&image);
	/* One thread leaves it to the exit. */
	ck_assert_uint_eq(
	    left(big, 100 * MIB + 4096), _i == 0 ? 0 : 100 * MIB / 4096 + 1);
	ck_assert_uint_eq(left(ours, 8 * MIB), 2048);
	ck_assert_uint_eq(left(closed, 8 * MIB), 2048);
	ck_assert_uint_eq(left(shared, 8 * MIB), 2048);
}

/* A heap of two spans and two listed blocks, of which one is small. */
static struct mu_blocks *
make_heap(char *at)
{
	static struct mu_arena arena;
	static struct mu_blocks blocks;
	uintptr_t begin = (uintptr_t)at;

	mu_arena_open(&arena, 16 * MIB);
	mu_blocks_open(&blocks, &arena);
	ck_assert_ptr_nonnull(mu_blocks_add_span(&blocks,
	    (struct mu_range) { begin + 16, begin + 20 * MIB + 32 }, at + 16));
	ck_assert_ptr_nonnull(mu_blocks_add_span(&blocks,
	    (struct mu_range) { begin + 30 * MIB, begin + 30 * MIB + 8192 },
	    at + 30 * MIB));
	ck_assert_int_eq(
	    mu_blocks_add(&blocks,
		(struct mu_range) { begin + 40 * MIB, begin + 48 * MIB },
		at + 40 * MIB, false),
	    MU_OK);
	ck_assert_int_eq(
	    mu_blocks_add(&blocks,
		(struct mu_range) { begin + 60 * MIB, begin + 61 * MIB },
		at + 60 * MIB, false),
	    MU_OK);
	ck_assert_int_eq(mu_blocks_seal(&blocks, NULL), MU_OK);
	return &blocks;
}

static bool
readable(const char *at)
{
	int status;
	pid_t pid = fork();

	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		signal(SIGSEGV, SIG_DFL);
		_exit(*(const volatile char *)at == 1 ? 0 : 1);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert(WIFSIGNALED(status) || WEXITSTATUS(status) == 0);
	return WIFEXITED(status);
}

/* Whole pages of it are gone, and reading them does not go unnoticed. */
TEST_LOOP(heap_only, 0, 2)
{
	struct mu_workers workers = pthread_workers(2);
	char *at;

	image.snap.mappings = mappings;
	image.snap.num_mappings = image.snap.num_own = 0;
	image.snap.memory.page_size = 4096;
	image.snap.workers = _i == 0 ? &workers : NULL;
	at = add(100 * MIB, true, false);
	mu_image_drop_heap(&image, make_heap(at));
	ck_assert(readable(at));
	ck_assert(!readable(at + 4096));
	ck_assert(!readable(at + 20 * MIB - 4096));
	ck_assert_uint_eq(left(at + 20 * MIB, 20 * MIB), 20 * MIB / 4096);
	ck_assert(!readable(at + 40 * MIB));
	ck_assert(!readable(at + 48 * MIB - 4096));
	ck_assert_uint_eq(left(at + 48 * MIB, 52 * MIB), 52 * MIB / 4096);
}

/* The thread pointer may refer to a block of the program. */
TEST(not_the_own_thread)
{
	struct mu_range range = { mu_arch_tp(), 0 };
	struct mu_arena arena;
	struct mu_blocks blocks;
	char byte = 1;

	image.snap.num_mappings = image.snap.num_own = 0;
	image.snap.memory.page_size = 4096;
	image.snap.workers = NULL;
	range.begin &= ~(8 * MIB - 1);
	range.end = range.begin + 8 * MIB;
	mu_arena_open(&arena, 16 * MIB);
	mu_blocks_open(&blocks, &arena);
	ck_assert_int_eq(mu_blocks_add(&blocks, range, &byte, false), MU_OK);
	ck_assert_int_eq(mu_blocks_seal(&blocks, NULL), MU_OK);
	mu_image_drop_heap(&image, &blocks);
	ck_assert(readable(&byte));
}
