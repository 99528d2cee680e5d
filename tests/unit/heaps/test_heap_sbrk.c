/*
 * Memory that other code took by sbrk() in the middle of malloc's: no block is
 * listed in it, the answer says that something was not checked, and what
 * malloc's lists confirm is listed nevertheless.
 *
 * The imitations are led into the real chain without a seam: where one starts a
 * page, with zeros before it, nothing in the chain itself tells them apart.
 */
#include <malloc.h>

#include "tests/support/heaps/heap_image.h"
#include "tests/support/suite.h"

#define PAGE 4096
#define KEPT 20000 /* blocks that the test has */
#define SIZE 100   /* bytes each */
#define VARIANTS 24

static struct heap_image image;
static char *blocks[KEPT];
static size_t num_blocks;
static struct mu_range holes[8];
static size_t num_holes;

static void
take_block(void)
{
	ck_assert_uint_lt(num_blocks, KEPT);
	blocks[num_blocks] = malloc(SIZE);
	ck_assert_ptr_nonnull(blocks[num_blocks]);
	memset(blocks[num_blocks++], 0, SIZE);
}

/* Until malloc has moved the break once more, and some. */
static void
grow(void)
{
	char *before = sbrk(0);
	size_t i;

	while (sbrk(0) == before)
		take_block();
	for (i = 0; i < 100; i++)
		take_block();
}

/* Chunks of SIZE from BEGIN to END, where the next one is the real one. */
static void
imitate(char *begin, char *end, size_t size)
{
	for (; (size_t)(end - begin) >= 2 * size; begin += size)
		*(size_t *)(begin + 8) = size | 1;
	if (end - begin >= 32)
		*(size_t *)(begin + 8) = (size_t)(end - begin) | 1;
}

/*
 * What the other one has: LENGTH bytes. Bit by bit of VARIANT: begins at once,
 * or at a page further on; what kind of chunks; ends in fenceposts.
 */
static void
take_hole(unsigned variant, size_t length)
{
	static const size_t sizes[] = { 32, 112, 1024 };
	char *hole = sbrk((long)length), *from = hole;

	ck_assert_ptr_ne(hole, (void *)-1);
	holes[num_holes++] =
	    (struct mu_range) { (uintptr_t)hole, (uintptr_t)hole + length };
	if (variant % 4 == 1)
		from += PAGE;
	if (variant % 4 == 2)
		from += 0x540;
	if (variant % 4 == 3)
		from += length - 0x440;
	imitate(from, hole + length, sizes[variant / 4 % 3]);
	if (variant / 12 % 2 == 1) {
		*(size_t *)(hole + length - 24) = 0x11;
		*(size_t *)(hole + length - 8) = 0x11;
	}
}

/* Free a block in every ten: bins get something; not the last ones. */
static void
free_some(size_t from)
{
	size_t i;

	for (i = from; i + 200 < num_blocks; i += 10) {
		free(blocks[i]);
		free(blocks[i + 1]);
		blocks[i] = blocks[i + 1] = NULL;
	}
	/* Fastbins are emptied into bins. */
	free(malloc(100000));
}

static size_t
count_listed(const struct heap_reading *reading, size_t from, size_t to)
{
	size_t i, count = 0;

	for (i = from; i < to; i++)
		count += blocks[i] != NULL &&
		    heap_reading_find(reading, (uintptr_t)blocks[i]) >= 0;
	return count;
}

static void
expect_no_phantoms(struct heap_reading *reading)
{
	size_t i, k;

	heap_image_take(&image, NULL, 0);
	heap_image_read(&image, reading);
	ck_assert_msg(reading->status == MU_PARTIAL || reading->status == MU_OK,
	    "%s: %s", mu_status_name(reading->status), reading->why.text);
	for (i = 0; i < reading->count; i++)
		for (k = 0; k < num_holes; k++)
			ck_assert_msg(
			    reading->blocks[i].end <= holes[k].begin ||
				reading->blocks[i].begin >= holes[k].end,
			    "a block in a hole");
	if (reading->status == MU_OK)
		ck_assert_uint_eq(reading->unproven_bytes, 0);
	else
		ck_assert_ptr_nonnull(strstr(reading->why.text, "sbrk"));
}

static void
setup(void)
{
	mallopt(M_TRIM_THRESHOLD, 64 << 20);
	mallopt(M_MMAP_THRESHOLD, 1 << 20);
	grow();
}

static void
play(unsigned variant, size_t length)
{
	struct heap_reading reading;
	size_t before = num_blocks, listed;

	take_hole(variant, length);
	grow();
	expect_no_phantoms(&reading);
	/* What was there before is all there, whatever came after. */
	ck_assert_uint_eq(
	    count_listed(&reading, 0, before - 200), before - 200);
	heap_reading_close(&reading);
	heap_image_release(&image);

	free_some(before + 50);
	expect_no_phantoms(&reading);
	listed = count_listed(&reading, before, num_blocks);
	ck_assert_msg(listed > (num_blocks - before) / 2,
	    "%zu of %zu blocks are listed", listed, num_blocks - before);
	heap_reading_close(&reading);
	heap_image_release(&image);
}

TEST_LOOP(rule7_whole_pages, 0, VARIANTS)
{
	play((unsigned)_i, 8 * PAGE);
}

TEST_LOOP(rule7_odd_bytes, 0, VARIANTS)
{
	play((unsigned)_i, 8 * PAGE + 0x340);
}

TEST(rule7_nothing_in_it)
{
	struct heap_reading reading;

	holes[num_holes].begin = (uintptr_t)sbrk(3 * PAGE);
	holes[num_holes].end = holes[num_holes].begin + 3 * PAGE;
	num_holes++;
	grow();
	expect_no_phantoms(&reading);
	ck_assert_int_eq(reading.status, MU_PARTIAL);
	heap_reading_close(&reading);
	heap_image_release(&image);
}

/* One hole behind the other, each of another kind. */
TEST_LOOP(rule7_many_holes, 0, 4)
{
	struct heap_reading reading;
	unsigned i;

	for (i = 0; i < 6; i++) {
		take_hole(i * 5 + (unsigned)_i, (4 + i) * PAGE + i % 2 * 0x60);
		grow();
	}
	expect_no_phantoms(&reading);
	heap_reading_close(&reading);
	heap_image_release(&image);
}

SUITE(.setup = setup);
