/* Memory that a fork leaves out is restored from the original, or counted. */
#include "heapwalk/memory/fork_gaps.h"
#include "tests/support/heaps/image.h"
#include "tests/support/suite.h"

#define PAGES 8

static struct mu_snapshot snap;
static struct mu_fork_gaps gaps;
static struct mu_range mapped[2]; /* also gone if tests share a process */

/* Pages of 'x' but for the first and the last, which were never touched. */
static char *
map_advised(int flags, int advice)
{
	char *at = mmap(NULL, PAGES * image.page, PROT_READ | PROT_WRITE,
	    flags | MAP_ANONYMOUS, -1, 0);

	ck_assert_ptr_ne(at, MAP_FAILED);
	mapped[0] = (struct mu_range) { (uintptr_t)at,
		(uintptr_t)at + PAGES * image.page };
	memset(at + image.page, 'x', (PAGES - 2) * image.page);
	ck_assert_int_eq(madvise(at, PAGES * image.page, advice), 0);
	return at;
}

static void
setup(void)
{
	image_setup();
	gaps = (struct mu_fork_gaps) {
		.memory = open("/proc/self/mem", O_RDONLY),
		.pagemap = open("/proc/self/pagemap", O_RDONLY),
		.limit = SIZE_MAX,
	};
	ck_assert(gaps.memory >= 0 && gaps.pagemap >= 0);
}

static void
teardown(void)
{
	size_t i;

	close(gaps.memory);
	close(gaps.pagemap);
	for (i = 0; i < 2; i++)
		munmap((void *)mapped[i].begin, mu_range_size(mapped[i]));
	mapped[0] = mapped[1] = (struct mu_range) { 0, 0 };
	image_teardown();
}

/* In a child: fill, then read all of AT. How many bytes were 'x'? */
static int
fill_and_count(const char *at, size_t missing, size_t lost)
{
	size_t i, count = 0;
	int status;
	pid_t child;

	image_open(&snap);
	child = fork();
	ck_assert_int_ge(child, 0);
	if (child == 0) {
		mu_fork_gaps_fill(&gaps, &image.self, image.page);
		if (gaps.missing != missing || gaps.lost != lost)
			_exit(100);
		for (i = 0; i < PAGES * image.page; i++)
			count += at[i] == 'x';
		_exit((int)(count / image.page));
	}
	waitpid(child, &status, 0);
	ck_assert_msg(WIFEXITED(status), "status %x", status);
	return WEXITSTATUS(status);
}

TEST_LOOP(missing_memory, 0, 2)
{
	char *at =
	    map_advised(_i == 0 ? MAP_PRIVATE : MAP_SHARED, MADV_DONTFORK);

	ck_assert_int_eq(fill_and_count(at, 1, 0), PAGES - 2);
}

TEST(without_pagemap)
{
	char *at = map_advised(MAP_PRIVATE, MADV_DONTFORK);

	close(gaps.pagemap);
	gaps.pagemap = -1;
	ck_assert_int_eq(fill_and_count(at, 1, 0), PAGES - 2);
}

TEST(wiped_memory)
{
	char *at = map_advised(MAP_PRIVATE, MADV_WIPEONFORK);
	struct mu_range range = { (uintptr_t)at,
		(uintptr_t)at + PAGES * image.page };

	ck_assert_int_eq(fill_and_count(at, 0, 0), 0);
	gaps.wiped = &range;
	gaps.num_wiped = 1;
	ck_assert_int_eq(fill_and_count(at, 0, 0), PAGES - 2);
	mprotect(at, PAGES * image.page, PROT_READ);
	ck_assert_int_eq(fill_and_count(at, 0, 0), PAGES - 2);
}

/* The list is outdated: the memory is now the stack that we run on. */
TEST(stale_range)
{
	char *at = map_advised(MAP_PRIVATE, MADV_DONTFORK);
	uintptr_t stack = (uintptr_t)&at & ~(image.page - 1);
	struct mu_range ranges[] = {
		{ stack - 2 * image.page, stack + 2 * image.page },
		{ 0, image.page },
		{ (uintptr_t)&gaps & ~(image.page - 1), UINTPTR_MAX },
	};

	gaps.wiped = ranges;
	gaps.num_wiped = 3;
	ck_assert_int_eq(fill_and_count(at, 1, 0), PAGES - 2);
}

TEST(too_much)
{
	char *at = map_advised(MAP_PRIVATE, MADV_DONTFORK);

	gaps.limit = (PAGES - 2) * image.page;
	ck_assert_int_eq(fill_and_count(at, 1, 0), PAGES - 2);
	gaps.limit -= image.page;
	ck_assert_int_eq(fill_and_count(at, 1, PAGES - 2), 0);
}

/* One that does not fit takes no room from one that does. */
TEST(too_much_of_one)
{
	char *small = map_advised(MAP_PRIVATE, MADV_DONTFORK), *big;
	size_t size = 100 * image.page;

	big = mmap(NULL, size, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	mapped[1] = (struct mu_range) { (uintptr_t)big, (uintptr_t)big + size };
	memset(big, 'y', size);
	/* A separate mapping, whatever is beside it. */
	ck_assert_int_eq(mprotect(big, size, PROT_READ), 0);
	ck_assert_int_eq(madvise(big, size, MADV_DONTFORK), 0);
	gaps.limit = 50 * image.page;
	ck_assert_int_eq(fill_and_count(small, 2, 100), PAGES - 2);
}

/* It runs again: what is read now is not that of the stop. */
TEST(gone_on)
{
	static const int over = 1;
	char *at = map_advised(MAP_PRIVATE, MADV_DONTFORK);

	gaps.still.over = &over;
	ck_assert_int_lt(fill_and_count(at, 1, PAGES - 2), 100);
}

/* A little is read all the same, as long as it stands still. */
TEST(late)
{
	static const int over = 0;
	char *at = map_advised(MAP_PRIVATE, MADV_DONTFORK);

	gaps.still = (struct mu_standstill) { 1, &over };
	ck_assert_int_eq(fill_and_count(at, 1, 0), PAGES - 2);
}

TEST(nowhere_to_read_from)
{
	char *at = map_advised(MAP_PRIVATE, MADV_DONTFORK);
	int memory = gaps.memory;

	gaps.memory = -1;
	ck_assert_int_eq(fill_and_count(at, 1, PAGES - 2), 0);
	gaps.memory = memory;
}

SUITE(.setup = setup, .teardown = teardown);
