/*
 * How much of memory that a copy shares is to be read in the stop.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "heapwalk/memory/available.h"
#include "lib/helpers/shared_pages.h"
#include "mu/sys.h"
#include "tests/support/suite.h"

#define MIB ((size_t)1 << 20)
#define MUCH (800 * MIB) /* more pages than a table of single pages had */
#define VIEWS 3

static struct mu_arena arena;

static void
list(struct mu_shared_pages *pages)
{
	*pages = (struct mu_shared_pages) {
		.tid = getpid(),
		.memory = open("/proc/self/mem", O_RDONLY | O_CLOEXEC),
		.pagemap = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC),
		.page_size = (size_t)sysconf(_SC_PAGESIZE),
		.arena = &arena,
	};
	ck_assert(pages->memory >= 0 && pages->pagemap >= 0);
	mu_shared_pages_list(pages, getpid());
}

/* A file that is mapped more than once, and touched in all of its views. */
static void
map_views(char **views, size_t size)
{
	int fd = memfd_create("views", MFD_CLOEXEC);
	size_t i, at;

	ck_assert_int_eq(ftruncate(fd, (off_t)size), 0);
	for (i = 0; i < VIEWS; i++) {
		views[i] =
		    mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		ck_assert_ptr_ne(views[i], MAP_FAILED);
		for (at = 0; at < size; at += 4096)
			views[i][at] = 1;
	}
	close(fd);
}

static void
unmap_views(char **views, size_t size)
{
	size_t i;

	for (i = 0; i < VIEWS; i++)
		munmap(views[i], size);
}

/* Each page once, and none is left out, however many there are. */
TEST_LOOP(pages_once, 0, 2)
{
	size_t size = _i == 0 ? MIB : MUCH, available = SIZE_MAX;
	struct mu_shared_pages before, pages;
	char *views[VIEWS];

	mu_available(&available);
	if (available < 2 * size) {
		printf("SKIPPED: pages_once: less than %zu MiB of memory\n",
		    2 * size / MIB);
		return;
	}
	mu_arena_open(&arena, 512 * MIB);
	list(&before);
	map_views(views, size);
	list(&pages);
	ck_assert_uint_eq(mu_shared_pages_expect(&pages, SIZE_MAX),
	    size + mu_shared_pages_expect(&before, SIZE_MAX));
	ck_assert_uint_eq(mu_shared_pages_expect(&pages, MIB / 2), MIB / 2);
	/* No time and no room: all of it is only listed, and later. */
	mu_shared_pages_take(&before, 0, 0);
	mu_shared_pages_take(&pages, 0, 0);
	ck_assert_uint_le(pages.changing, MIB);
	mu_shared_pages_take_rest(&before);
	mu_shared_pages_take_rest(&pages);
	ck_assert_uint_eq(pages.unasked, 0);
	ck_assert_uint_eq(pages.taken, 0);
	ck_assert_uint_eq(pages.changing, size + before.changing);
	unmap_views(views, size);
	close(before.memory);
	close(before.pagemap);
	close(pages.memory);
	close(pages.pagemap);
	mu_arena_close(&arena);
}

#define LARGE (64 * MIB)
#define LITTLE (16 * MIB) /* is read before a rate is known */

/* What is read in a stop that may take SPAN ns, of EXPECTED bytes. */
static size_t
taken_of(size_t expected, uint64_t span)
{
	struct mu_shared_pages pages;
	uint64_t end_ns;
	char *views[VIEWS];
	size_t i, listed = 0;

	mu_arena_open(&arena, 512 * MIB);
	map_views(views, LARGE);
	list(&pages);
	pages.limit = SIZE_MAX / 2;
	pages.expected = expected;
	end_ns = mu_sys_now_ns() + span;
	mu_shared_pages_take(&pages, end_ns, end_ns);
	mu_shared_pages_take_rest(&pages);
	ck_assert_uint_ge(pages.taken + pages.changing, LARGE);
	for (i = 0; i < pages.num_parts; i++)
		listed += mu_range_size(pages.parts[i].range);
	ck_assert_uint_eq(listed, pages.taken + pages.changing);
	unmap_views(views, LARGE);
	close(pages.memory);
	close(pages.pagemap);
	mu_arena_close(&arena);
	return pages.taken;
}

/* Small mappings are read in any case, before a large one for which it ends. */
TEST(small_ones_first)
{
	enum { SMALL_ONES = 10, SMALL_SIZE = 3 << 20 };
	size_t size = 3 * LARGE, i;
	uint64_t end_ns;
	struct mu_shared_pages pages;
	char *at[SMALL_ONES + 1];

	mu_arena_open(&arena, 512 * MIB);
	for (i = 0; i <= SMALL_ONES; i++) {
		at[i] = mmap(NULL, i == 0 ? size : SMALL_SIZE,
		    PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
		ck_assert_ptr_ne(at[i], MAP_FAILED);
		memset(at[i], 'x', i == 0 ? size : SMALL_SIZE);
	}
	list(&pages);
	pages.limit = SIZE_MAX / 2;
	pages.expected = (size_t)1 << 50;
	end_ns = mu_sys_now_ns() + 100 * MU_NS_PER_SEC;
	mu_shared_pages_take(&pages, end_ns, end_ns);
	mu_shared_pages_take_rest(&pages);
	ck_assert_uint_ge(pages.taken, SMALL_ONES * SMALL_SIZE);
	ck_assert_uint_le(pages.taken, SMALL_ONES * SMALL_SIZE + 2 * LITTLE);
	ck_assert_uint_ge(pages.changing, size - 2 * LITTLE);
	for (i = 0; i <= SMALL_ONES; i++)
		munmap(at[i], i == 0 ? size : SMALL_SIZE);
	close(pages.memory);
	close(pages.pagemap);
	mu_arena_close(&arena);
}

/* What cannot be read in time is not begun. */
TEST(foreseen)
{
	ck_assert_uint_ge(taken_of(0, 100 * MU_NS_PER_SEC), LARGE);
	ck_assert_uint_ge(taken_of(LARGE, 100 * MU_NS_PER_SEC), LARGE);
	ck_assert_uint_le(
	    taken_of((size_t)1 << 50, 100 * MU_NS_PER_SEC), 2 * LITTLE);
}
