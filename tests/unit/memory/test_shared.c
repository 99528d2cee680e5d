/* Shared memory becomes private to an image, as far as time and room allow. */
#include "heapwalk/memory/shared.h"
#include "tests/support/heaps/image.h"
#include "tests/support/suite.h"

#define PAGES 8
#define MAPPINGS 1024

static struct mu_snapshot snap;
static struct mu_shared shared;
static uintptr_t kept[MAPPINGS];

static void
setup(void)
{
	image_setup();
	shared = (struct mu_shared) {
		.still = { UINT64_MAX, NULL },
		.limit = PAGES * image.page,
		.kept = kept,
	};
}

static void
teardown(void)
{
	image_teardown();
}

/* Pages of 'x' but for the first and the last, which are holes. */
static char *
map_shared(int fd)
{
	char *at = mmap(NULL, PAGES * image.page, PROT_READ | PROT_WRITE,
	    MAP_SHARED | (fd < 0 ? MAP_ANONYMOUS : 0), fd, 0);

	ck_assert_ptr_ne(at, MAP_FAILED);
	memset(at + image.page, 'x', (PAGES - 2) * image.page);
	return at;
}

static size_t
count_pages(const char *at)
{
	size_t i, count = 0;

	for (i = 0; i < PAGES * image.page; i++)
		count += at[i] == 'x';
	return count / image.page;
}

/* How many pages of the mapping at AT have data in the process that shares it.
 */
static size_t
count_now(const char *at)
{
	const struct mu_mapping *mapping =
	    mu_snapshot_mapping(&snap, (uintptr_t)at);
	uintptr_t place = kept[mapping - snap.mappings];
	struct mu_range rest = mapping->range, part;
	struct mu_pages pages;
	size_t count = 0;

	mu_pages_open(&pages, image.page);
	for (; mu_shared_next(&pages, place, mapping, rest, &part);
	     rest.begin = part.end)
		count += mu_range_size(part) / image.page;
	mu_pages_close(&pages);
	return count;
}

/*
 * In a child: take, then write to AT in the parent, which shares it. How many
 * pages does the child still see as they were?
 */
static int
take_and_count(char *at, size_t taken, size_t changing)
{
	int took[2], wrote[2], status;
	char byte = 0;
	pid_t child;

	image_open(&snap);
	ck_assert(pipe(took) == 0 && pipe(wrote) == 0);
	child = fork();
	ck_assert_int_ge(child, 0);
	if (child == 0) {
		mu_shared_take(&shared, &snap.memory);
		if (write(took[1], &byte, 1) != 1 ||
		    read(wrote[0], &byte, 1) != 1)
			_exit(102);
		if (shared.taken != taken * image.page)
			_exit(100);
		if (shared.changing != changing * image.page)
			_exit(101);
		if (count_now(at) != PAGES - 1)
			_exit(103);
		_exit((int)count_pages(at));
	}
	ck_assert_int_eq(read(took[0], &byte, 1), 1);
	memset(at + image.page, 'y', (PAGES - 1) * image.page);
	ck_assert_int_eq(write(wrote[1], &byte, 1), 1);
	waitpid(child, &status, 0);
	ck_assert_msg(WIFEXITED(status), "status %x", status);
	return WEXITSTATUS(status);
}

TEST(taken)
{
	char *at = map_shared(-1);
	unsigned char resident[PAGES];

	ck_assert_int_eq(take_and_count(at, PAGES - 2, 0), PAGES - 2);
	/* A hole is still a hole. */
	ck_assert_int_eq(mincore(at, PAGES * image.page, resident), 0);
	ck_assert_int_eq(resident[0] & 1, 0);
	munmap(at, PAGES * image.page);
}

TEST(no_room)
{
	char *at = map_shared(-1);

	shared.limit = (PAGES - 3) * image.page;
	ck_assert_int_eq(take_and_count(at, 0, PAGES - 2), 0);
	munmap(at, PAGES * image.page);
}

/* A little is taken all the same; another mapping is too large for that. */
TEST(no_time)
{
	size_t size = (size_t)24 << 20;
	char *at = map_shared(-1);
	char *large = mmap(NULL, size, PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	ck_assert_ptr_ne(large, MAP_FAILED);
	memset(large, 'x', size);
	shared.still.until_ns = 1;
	shared.limit = SIZE_MAX;
	ck_assert_int_eq(
	    take_and_count(at, PAGES - 2, size / image.page), PAGES - 2);
	munmap(at, PAGES * image.page);
	munmap(large, size);
}

/* The program runs again: nothing is what it was at the stop. */
TEST(gone_on)
{
	static const int over = 1;
	char *at = map_shared(-1);

	shared.still.over = &over;
	ck_assert_int_eq(take_and_count(at, 0, PAGES - 2), 0);
	munmap(at, PAGES * image.page);
}

TEST(excepted)
{
	char *at = map_shared(-1);

	shared.except = (struct mu_range) { (uintptr_t)at,
		(uintptr_t)at + PAGES * image.page };
	ck_assert_int_eq(take_and_count(at, 0, 0), 0);
	munmap(at, PAGES * image.page);
}

/* The second mapping of the same pages is not copied again. */
TEST(shown_twice)
{
	int fd = memfd_create("shown", MFD_CLOEXEC);
	char *at, *other;

	ck_assert_int_eq(ftruncate(fd, (off_t)(PAGES * image.page)), 0);
	at = map_shared(fd);
	other = map_shared(fd);
	ck_assert_int_eq(
	    take_and_count(at < other ? at : other, PAGES - 2, 0), PAGES - 2);
	munmap(at, PAGES * image.page);
	munmap(other, PAGES * image.page);
	close(fd);
}

SUITE(.setup = setup, .teardown = teardown);
