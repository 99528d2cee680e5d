/*
 * Which pages of our own image can hold a pointer.
 */
#include <sys/stat.h>

#include "tests/support/heaps/image.h"
#include "tests/support/suite.h"

static struct mu_snapshot snap;

TEST(untouched_pages_do_not_count)
{
	unsigned char populated[8];
	struct mu_range part;
	char *at = map_untouched(8);

	at[3 * image.page] = at[4 * image.page] = at[6 * image.page + 17] = 1;
	image_open(&snap);
	ck_assert(mu_memory_self_look(&snap.memory, &image.pages));
	ck_assert(!snap.memory.blind);
	image_ask(&snap, at, 8, populated);
	ck_assert_mem_eq(populated, "\0\0\0\1\1\0\1\0", 8);
	/* Clipped to the byte. */
	ck_assert(snap.memory.ops->populated(&snap.memory,
	    (struct mu_range) { (uintptr_t)at + 3 * image.page + 5,
		(uintptr_t)at + 4 * image.page + 9 },
	    &part));
	ck_assert_uint_eq(part.begin, (uintptr_t)at + 3 * image.page + 5);
	ck_assert_uint_eq(part.end, (uintptr_t)at + 4 * image.page + 9);
	close_self(&snap.memory);
}

/* With PAGEMAP_SCAN, and without as before Linux 6.7. */
static void
random_model(size_t pages, int writes, bool no_scan)
{
	unsigned char *written = calloc(pages, 1), *seen = calloc(pages, 1);
	char *at = map_untouched(pages);
	size_t i, lost = 0;

	for (; writes > 0; writes--) {
		i = (size_t)rand() % pages;
		at[i * image.page + (size_t)rand() % image.page] = 1;
		written[i] = 1;
	}
	image_open(&snap);
	ck_assert(mu_memory_self_look(&snap.memory, &image.pages));
	image.pages.no_scan = no_scan;
	if (!no_scan)
		mu_memory_self_ask_at_once(&snap.memory);
	image_ask(&snap, at, pages, seen);
	/* A huge page brings neighbours: more is right, less is not. */
	for (i = 0; i < pages; i++)
		lost += written[i] && !seen[i];
	ck_assert_uint_eq(lost, 0);
	close_self(&snap.memory);
	munmap(at, pages * image.page);
	free(written);
	free(seen);
}

TEST(no_written_page_is_lost)
{
	int round;

	for (round = 0; round < 30; round++) {
		random_model(
		    1 + (size_t)rand() % 3000, rand() % 400, round % 2 == 0);
		random_model(50000 + (size_t)rand() % 100000, rand() % 40,
		    round % 2 == 0);
	}
}

TEST(a_terabyte_of_nothing)
{
	size_t pages = ((size_t)1 << 40) / image.page;
	char *at = map_untouched(pages);
	struct mu_range rest = { (uintptr_t)at,
		(uintptr_t)at + pages * image.page };
	struct mu_range part;

	madvise(at, pages * image.page, MADV_NOHUGEPAGE);
	at[pages / 2 * image.page] = 1;
	image_open(&snap);
	ck_assert(mu_memory_self_look(&snap.memory, &image.pages));
	ck_assert(snap.memory.ops->populated(&snap.memory, rest, &part));
	if (image.pages.no_scan)
		return; /* an old kernel: it took its time */
	ck_assert_uint_eq(part.begin, (uintptr_t)at + pages / 2 * image.page);
	ck_assert_uint_eq(mu_range_size(part), image.page);
	rest.begin = part.end;
	ck_assert(!snap.memory.ops->populated(&snap.memory, rest, &part));
	close_self(&snap.memory);
}

static void
ask_file(bool at_once)
{
	unsigned char populated[4];
	int fd = file_of_pages("/tmp", 4);
	char *at = map_pages(4, MAP_PRIVATE, fd);
	volatile char c = at[0];

	c = at[image.page];
	(void)c;
	at[image.page] = 'm';
	at[3 * image.page] = 'm';
	image_open(&snap);
	ck_assert(mu_memory_self_look(&snap.memory, &image.pages));
	if (at_once)
		mu_memory_self_ask_at_once(&snap.memory);
	image_ask(&snap, at, 4, populated);
	ck_assert_mem_eq(populated, "\0\1\0\1", 4);
	close_self(&snap.memory);
	close(fd);
}

TEST(unmodified_file_pages_do_not_count)
{
	ask_file(false);
	ask_file(true);
}

TEST(without_pagemap)
{
	unsigned char populated[8];
	char *at = map_untouched(8);

	at[3 * image.page] = at[4 * image.page] = 1;
	image_open(&snap);
	ck_assert(mu_memory_self_look(&snap.memory, &image.pages));
	mu_pages_close(&image.pages);
	image_ask(&snap, at, 8, populated);
	if (image.pages.swap_used)
		ck_assert_mem_eq(populated, "\1\1\1\1\1\1\1\1", 8);
	else
		ck_assert_mem_eq(populated, "\0\0\0\1\1\0\0\0", 8);
}

/* Page tables of shared memory are not copied at fork. */
TEST(shared_file_counts_whole)
{
	unsigned char populated[4];
	int fd = file_of_pages("/tmp", 4);
	char *at = map_pages(4, MAP_SHARED, fd);

	image_open(&snap);
	ck_assert(mu_memory_self_look(&snap.memory, &image.pages));
	image_ask(&snap, at, 4, populated);
	ck_assert_mem_eq(populated, "\1\1\1\1", 4);
	close_self(&snap.memory);
	close(fd);
}

static blkcnt_t
blocks_of(int fd)
{
	struct stat about;

	ck_assert_int_eq(fstat(fd, &about), 0);
	return about.st_blocks;
}

/* What is read through a hole of memory is filled, for everybody. */
TEST(shared_memory_is_not_filled)
{
	unsigned char populated[1024];
	int status, fd = memfd_create("sparse", 0);
	char *at, *private;
	blkcnt_t before;
	size_t i;
	pid_t child;

	ck_assert_int_eq(ftruncate(fd, (off_t)(1024 * image.page)), 0);
	/* Right behind private memory: pagemap must not answer for both. */
	private = map_filled(1025);
	at = mmap(private + image.page, 1024 * image.page,
	    PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0);
	ck_assert_ptr_eq(at, private + image.page);
	at[5 * image.page] = 1;
	ck_assert_int_eq(pwrite(fd, "x", 1, (off_t)(700 * image.page)), 1);
	before = blocks_of(fd);
	image_open(&snap);
	child = fork();
	if (child == 0) {
		/* None of these pages is in our page tables. */
		mu_memory_self_look(&snap.memory, &image.pages);
		image_ask(&snap, private, 1, populated);
		image_ask(&snap, at, 1024, populated);
		for (i = 0; i < 1024; i++) {
			if (populated[i] &&
			    *(volatile char *)(at + i * image.page))
				populated[i] = 2;
		}
		_exit(populated[5] != 2 || populated[700] != 2);
	}
	waitpid(child, &status, 0);
	ck_assert_int_eq(status, 0);
	mu_memory_self_look(&snap.memory, &image.pages);
	image_ask(&snap, at, 1024, populated);
	if (image.pages.swap_used)
		return; /* cannot tell a hole from a image.page in swap */
	ck_assert_int_eq(blocks_of(fd), before);
	for (i = 0; i < 1024; i++)
		ck_assert_int_eq(populated[i], i == 5 || i == 700);
	close_self(&snap.memory);
	close(fd);
}

/* Is page PAGE, at AT, held by the calling process? */
static bool
is_held(const char *at, size_t page)
{
	struct mu_pages pages;
	struct mu_range range;
	bool held;

	range.begin = (uintptr_t)at + page * image.page;
	range.end = range.begin + image.page;
	ck_assert(mu_pages_open(&pages, image.page));
	held = mu_pages_any_written(&pages, range);
	mu_pages_close(&pages);
	return held;
}

/* Untouched, read, written, and written but emptied by the fork. */
TEST(what_was_written)
{
	char *at = map_untouched(4);
	volatile char byte = at[image.page];
	struct mu_pages pages;
	bool can_tell;
	int status;
	pid_t child;

	ck_assert(mu_pages_open(&pages, image.page));
	can_tell = mu_pages_can_skip(&pages);
	mu_pages_close(&pages);
	(void)byte;
	at[2 * image.page] = at[3 * image.page] = 1;
	ck_assert_int_eq(
	    madvise(at + 3 * image.page, image.page, MADV_WIPEONFORK), 0);
	ck_assert(!is_held(at, 0));
	if (is_held(at, 1)) {
		printf("SKIPPED: what_was_written: a read maps no page of zeros"
		       " here\n");
		return;
	}
	ck_assert_int_eq(is_held(at, 2), can_tell);
	ck_assert_int_eq(is_held(at, 3), can_tell);
	child = fork();
	if (child == 0) {
		byte = at[3 * image.page]; /* zeros, and now a page of them */
		ck_assert(!is_held(at, 0) && !is_held(at, 1));
		ck_assert_int_eq(is_held(at, 2), can_tell);
		ck_assert(!is_held(at, 3));
		_exit(0);
	}
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert_int_eq(status, 0);
}

SUITE(.setup = image_setup, .teardown = image_teardown);
