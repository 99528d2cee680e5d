/*
 * Copy a real heap and change one or two words of the copy: a mapping that may
 * not be a chunk is not reported, and the answer says so; if malloc's counters
 * identify the chunks, none is missed.
 */
#include "tests/support/heaps/heap_busy.h"

#include "heapwalk/heaps/glibc/mmapped_sums.h"
#include "tests/support/suite.h"

#define PAGE 4096
#define PAGES 512 /* of a buffer of the program */

static const struct mu_glibc_layout *layout;
static uintptr_t buffer;
static bool exact; /* mmapped_mem says exactly how much there is */

static void
setup(void)
{
	char *pages = mmap(NULL, (size_t)PAGES * PAGE, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	ck_assert_ptr_ne(pages, MAP_FAILED);
	memset(pages, 0x77, (size_t)PAGES * PAGE);
	buffer = (uintptr_t)pages;
	busy_setup();
	layout = busy.glibc.layout;
	exact = layout->mmapped_tail == 0;
}

/* What looks like a chunk of SIZE whole bytes at PAGE of the buffer. */
static void
imitate(size_t page, size_t size)
{
	uintptr_t *words = busy_word_at(buffer + page * PAGE);

	words[0] = 0;
	words[1] = (size - layout->mmapped_tail) | MU_IS_MMAPPED;
}

/* The whole mapping of a chunk that is not aligned. */
static size_t
whole_size(uintptr_t block)
{
	return (*busy_size_of(block) & ~(uintptr_t)MU_SIZE_FLAGS) +
	    layout->mmapped_tail;
}

/*
 * COUNT blocks are listed as long as nothing is reported of KEPT of them, and
 * no other block than ever, but for those.
 */
static void
expect_partial(size_t count, size_t kept, const char *words)
{
	struct heap_reading reading;
	size_t i;

	heap_image_read(&busy.image, &reading);
	ck_assert_msg(reading.status == MU_PARTIAL &&
		strstr(reading.why.text, words) != NULL,
	    "%s: %s", mu_status_name(reading.status), reading.why.text);
	ck_assert_uint_eq(reading.count, count);
	ck_assert_uint_eq(reading.num_kept, kept);
	for (i = 0; i < reading.count; i++)
		ck_assert(reading.kept[i] ||
		    heap_reading_find(&busy.whole, reading.blocks[i].begin) >=
			0);
	heap_reading_close(&reading);
}

static void
expect_all_kept(void)
{
	expect_partial(
	    busy.whole.count, BUSY_MMAPPED, "of them were not checked");
}

CASE(rule6, setup, NULL);

TEST(rule6_n_mmaps)
{
	int *count = (int *)par_at(layout->par_n_mmaps);

	*count += 1;
	expect_all_kept();
	*count -= 2;
	if (exact)
		expect_all_kept();
	*count += 1;
	expect_same();
}

TEST(rule6_mmapped_mem)
{
	uintptr_t *bytes = par_at(layout->par_mmapped_mem);

	WHILE(bytes, *bytes - PAGE, expect_all_kept());
	if (exact)
		WHILE(bytes, *bytes + PAGE, expect_all_kept());
	expect_same();
}

TEST(rule6_header_gone)
{
	uintptr_t *word = busy_size_of(busy.mmapped[0]);

	WHILE(word, *word | MU_PREV_INUSE,
	    expect_partial(busy.whole.count - 1, BUSY_MMAPPED - 1,
		"of them were not checked"));
	WHILE(word, *word + PAGE / 2,
	    expect_partial(busy.whole.count - 1, BUSY_MMAPPED - 1, "n_mmaps"));
	WHILE(busy_word_at(chunk_of(busy.mmapped[0])), 16,
	    expect_partial(busy.whole.count - 1, BUSY_MMAPPED - 1, "n_mmaps"));
	expect_same();
}

TEST(rule6_size_too_large)
{
	uintptr_t *word = busy_size_of(busy.mmapped[1]);

	/* It covers what is behind it, which may be the next one's header. */
	WHILE(word, *word + PAGE, expect_answer(MU_PARTIAL, "n_mmaps"));
	expect_same();
}

/* One too many, of a size that no other has: it is known for what it is. */
TEST(imitation_singled_out)
{
	if (!exact)
		return;
	imitate(3, 5 * PAGE);
	expect_same();
	imitate(9, 7 * PAGE);
	expect_same();
	imitate(20, 11 * PAGE);
	expect_same();
	/* Four: that is where the counting ends. */
	imitate(40, 13 * PAGE);
	expect_partial(busy.whole.count + 4, BUSY_MMAPPED + 4, "n_mmaps");
}

/* As large as a real one: nothing is said of the two, all of the others. */
TEST(imitation_in_doubt)
{
	if (!exact)
		return;
	imitate(3, whole_size(busy.mmapped[2]));
	expect_partial(busy.whole.count + 1, 2, "2 of them were not checked");
}

/* It claims a real one's mapping, and its own, as a part of itself. */
TEST(imitation_of_imitations)
{
	if (!exact)
		return;
	imitate(3, 20 * PAGE);
	imitate(5, 2 * PAGE);
	imitate(8, 4 * PAGE);
	expect_same();
}

/* Where malloc counts none, however many pages look like one. */
TEST(imitations_of_nothing)
{
	struct heap_reading reading;
	size_t i;

	if (!exact)
		return;
	for (i = 0; i < PAGES; i++)
		imitate(i, PAGE);
	for (i = 0; i < BUSY_MMAPPED; i++)
		*busy_size_of(busy.mmapped[i]) |= MU_PREV_INUSE;
	*(int *)par_at(layout->par_n_mmaps) = 0;
	*par_at(layout->par_mmapped_mem) = 0;
	heap_image_read(&busy.image, &reading);
	ck_assert_msg(reading.status == MU_OK, "%s", reading.why.text);
	ck_assert_uint_eq(reading.count, busy.whole.count - BUSY_MMAPPED);
	heap_reading_close(&reading);
}

/* Without any counter that helps: hundreds of pages, and not one is reported.
 */
TEST(imitations_in_masses)
{
	size_t i;

	for (i = 0; i < PAGES; i++)
		imitate(i, PAGE);
	expect_partial(busy.whole.count + PAGES, BUSY_MMAPPED + PAGES,
	    "of them were not checked");
}

/* ---- the counting itself ---- */

static struct mu_arena memory;

static struct mu_glibc_candidate
candidate(size_t begin, size_t size)
{
	return (struct mu_glibc_candidate) { .whole = { begin * PAGE,
						 (begin + size) * PAGE } };
}

static void
open_memory(void)
{
	mu_arena_open(&memory, 1 << 20);
}

static void
close_memory(void)
{
	mu_arena_close(&memory);
}

CASE(pick, open_memory, close_memory);

TEST(pick_is_unique)
{
	struct mu_glibc_candidate all[] = { candidate(1, 3), candidate(10, 5),
		candidate(20, 9), candidate(40, 4) };

	/* 3 + 9 + 4 + 5 = 21: 3 and 5 are too many, and so are 4 and 4. */
	ck_assert(mu_glibc_mmapped_solve(all, 4, 2, 13 * PAGE, &memory));
	ck_assert(all[0].out && all[1].out && !all[2].out && !all[3].out);
	ck_assert(!all[2].unsure && !all[3].unsure);
}

TEST(pick_is_in_doubt)
{
	struct mu_glibc_candidate all[] = { candidate(1, 3), candidate(10, 5),
		candidate(20, 3), candidate(40, 4), candidate(50, 4) };

	/* Out are 3 and 5, whichever 3, or the two 4. */
	ck_assert(mu_glibc_mmapped_solve(all, 5, 3, 11 * PAGE, &memory));
	ck_assert(all[0].unsure && all[1].unsure && all[2].unsure &&
	    all[3].unsure && all[4].unsure);
	/* Out is one 3. */
	ck_assert(mu_glibc_mmapped_solve(all, 5, 4, 16 * PAGE, &memory));
	ck_assert(all[0].unsure && all[2].unsure);
	ck_assert(!all[1].unsure && !all[1].out && !all[3].unsure);
}

/* Chunks do not overlap: of two that do, the smaller can be the real one. */
TEST(pick_apart)
{
	struct mu_glibc_candidate all[] = { candidate(1, 8), candidate(3, 2),
		candidate(20, 8) };

	ck_assert(mu_glibc_mmapped_solve(all, 3, 2, 10 * PAGE, &memory));
	ck_assert(all[0].out && !all[1].out && !all[2].out);
	ck_assert(!all[1].unsure && !all[2].unsure);
}

TEST(pick_nothing_fits)
{
	struct mu_glibc_candidate all[] = { candidate(1, 8), candidate(13, 2),
		candidate(20, 8) };

	ck_assert(!mu_glibc_mmapped_solve(all, 3, 2, 11 * PAGE, &memory));
	ck_assert(!mu_glibc_mmapped_solve(all, 3, 3, 11 * PAGE, &memory));
	ck_assert(!mu_glibc_mmapped_solve(all, 3, 4, 18 * PAGE, &memory));
	ck_assert(!mu_glibc_mmapped_solve(all, 3, 2, 99 * PAGE, &memory));
	ck_assert(!mu_glibc_mmapped_solve(all, 0, 0, 4 * PAGE, &memory));
	ck_assert(mu_glibc_mmapped_solve(all, 3, 0, 0, &memory));
	ck_assert(all[0].out && all[1].out && all[2].out);
}
