/* Which words count as left-over links of free lists, as marking sees them. */
#include "tests/support/graph/marking.h"
#include "tests/support/suite.h"

#define WORDS 211 /* of the reused block: room for a large chunk of old */
#define BIN 0x7010

static const struct mu_range bins[] = { { 0x1000, 0x1800 },
	{ 0x7000, 0x7800 } };

/*
 * Chunks in a row: reused, x, f, y, b. reused holds fd and bk of an old list in
 * which f and b were its neighbours; x and y, before them, are what the links
 * seem to refer to. Only reused is reachable.
 */
struct links {
	uintptr_t *reused;
	void **x, **f, **y, **b;
	uintptr_t fd, bk;
};

static struct links
make_links(void)
{
	struct links links;

	marking_open_heap(FAKE_SPAN, 16384);
	marking_heap.glibc.bins = bins;
	marking_heap.glibc.num_bins = 2;
	links.reused = (uintptr_t *)marking_node(WORDS);
	links.x = marking_node(3);
	links.f = marking_node(5);
	links.y = marking_node(3);
	links.b = marking_node(5);
	marking_node(1);
	links.fd = (uintptr_t)(links.f - 2);
	links.bk = (uintptr_t)(links.b - 2);
	root_value(links.reused);
	return links;
}

static void
expect_marked(const struct links *links, bool x, bool y)
{
	mark();
	ck_assert_int_eq(fake_marked(&marking_heap, links->x), x);
	ck_assert_int_eq(fake_marked(&marking_heap, links->y), y);
	fake_heap_close(&marking_heap);
}

/* The words from AT on, then what is marked. */
#define EXPECT(x, y, at, ...)                                    \
	do {                                                     \
		const uintptr_t words[] = { __VA_ARGS__ };       \
		memcpy(&links.reused[at], words, sizeof(words)); \
		expect_marked(&links, x, y);                     \
		links = make_links();                            \
	} while (0)

TEST(links_without_evidence)
{
	struct links links = make_links();
	size_t at;

	for (at = 0; at < 8; at++) {
		EXPECT(true, true, at, links.fd, links.bk);
		EXPECT(true, false, at, links.fd);
		EXPECT(true, false, at, links.fd, BIN);
		EXPECT(false, true, at, BIN, links.bk);
	}
}

/* What a program writes to one of the words and malloc to the other. */
TEST(links_of_neighbours_that_meet)
{
	struct links links = make_links();

	links.f[1] = (void *)links.bk;
	links.b[0] = (void *)links.fd;
	EXPECT(true, true, 0, links.fd, links.bk);
}

TEST(links_that_are_repeated)
{
	struct links links = make_links();
	uintptr_t start = (uintptr_t)links.b;
	size_t at;

	for (at = 0; at < 8; at++) {
		/* A pair is at a multiple of 16. */
		EXPECT(at % 2 == 1, at % 2 == 1, at, links.fd, links.bk,
		    links.fd, links.bk);
	}
	EXPECT(true, true, 0, links.fd, links.bk, links.fd, BIN);
	EXPECT(true, true, 0, links.fd, links.bk, 0, 0, links.fd, links.bk);
	/* No links: a block's first byte, one that is not aligned, a number. */
	EXPECT(true, false, 0, links.fd, start, links.fd, start);
	EXPECT(true, false, 0, links.fd, links.bk + 8, links.fd, links.bk + 8);
	EXPECT(true, false, 0, links.fd, 64, links.fd, 64);
}

TEST(links_at_the_end_of_a_list)
{
	struct links links = make_links();

	EXPECT(false, false, 0, links.fd, BIN, links.fd, links.bk);
	EXPECT(false, false, 0, BIN, links.bk, links.fd, links.bk);
	EXPECT(true, true, 0, BIN, 0, links.fd, links.bk, BIN);
	EXPECT(true, true, 0, links.bk, BIN, links.fd, links.bk);
	EXPECT(true, true, 0, links.fd, links.bk, links.fd, BIN);
}

/* The chunk's own size word is in front of the block: no evidence. */
TEST(links_behind_a_size)
{
	struct links links = make_links();
	/* From the old chunk, 2 words before the links, to where x begins. */
	size_t size = (WORDS + 1) * W - 4 * W, to_f, i;
	size_t wrong[] = { 0, 1, size, size + 3, size + 9, size - 15, size + 17,
		17, UINTPTR_MAX, UINTPTR_MAX - 14 };

	EXPECT(false, false, 3, size | 1, links.fd, links.bk);
	EXPECT(false, false, 3, size | 5, links.fd, links.bk);
	EXPECT(true, true, 4, size | 1, links.fd, links.bk);
	EXPECT(true, true, 2, size | 1, 0, links.fd, links.bk);
	for (i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
		EXPECT(true, true, 3, wrong[i], links.fd, links.bk);

	/* By way of another chunk, which may have had a free one before it. */
	EXPECT(false, false, 3, 33, links.fd, links.bk, 0, (size - 32) | 1);
	EXPECT(false, false, 3, 33, links.fd, links.bk, 0, size - 32);
	EXPECT(true, true, 3, 33, links.fd, links.bk, 0, size - 16);
	EXPECT(true, true, 3, 33, links.fd, links.bk);

	/* A link to a later chunk. */
	to_f = links.fd - (uintptr_t)&links.reused[2];
	EXPECT(false, false, 3, to_f | 1, links.fd, links.bk);
	EXPECT(true, true, 3, (to_f + 16) | 1, links.fd, links.bk);
}

TEST(links_of_large_chunks)
{
	struct links links = make_links();
	size_t size = (WORDS + 1) * W - 4 * W;

	EXPECT(false, false, 3, size | 1, 0, 0, links.fd, links.bk);
	EXPECT(true, true, 3, size | 1, 0, 0, 0, 0, links.fd, links.bk);
	/* Too small to be on a list by size. */
	size -= (WORDS - 99) * W;
	EXPECT(true, true, WORDS - 96, size | 1, 0, 0, links.fd, links.bk);
	EXPECT(false, false, WORDS - 96, size | 1, links.fd, links.bk);
}

/* A large chunk that was alone on its list: both words are itself. */
TEST(links_to_itself)
{
	void **before, **reused;
	int at, both;

	for (at = 0; at < 8; at++) {
		for (both = 0; both < 2; both++) {
			marking_open_heap(FAKE_SPAN, 4096);
			before = marking_node(3);
			reused = marking_node(11);
			marking_node(1);
			reused[at] = reused - 2;
			reused[at + both] = reused - 2;
			root_value(reused);
			mark();
			ck_assert_int_eq(fake_marked(&marking_heap, before),
			    at != 2 || !both);
			fake_heap_close(&marking_heap);
		}
	}
	marking_open_heap(FAKE_SPAN, 4096);
}

/* If a root refers to the block no evidence counts. */
TEST(links_in_roots)
{
	struct links links = make_links();
	uintptr_t words[4] __attribute__((aligned(16))) = { links.fd, links.bk,
		links.fd, links.bk };

	root_range(words, words + 4);
	expect_marked(&links, true, true);

	/* A registered region may lie in a block. */
	links = make_links();
	words[0] = words[2] = links.fd;
	words[1] = words[3] = links.bk;
	memcpy(links.reused, words, sizeof(words));
	root_range(links.reused, links.reused + 4);
	expect_marked(&links, true, true);
	links = make_links();
}

/* A program that points at last words elsewhere means this one, too. */
TEST(links_among_references)
{
	struct links links = make_links();
	uintptr_t *holder;
	void **target;
	int i, references;

	for (references = 0; references < 8; references++) {
		for (i = 0; i < references; i++) {
			holder = (uintptr_t *)marking_node(1);
			target = marking_node(3);
			holder[0] = (uintptr_t)(target + 2);
			root_value(holder);
		}
		/* There are two that look like links. */
		EXPECT(references >= 4, references >= 4, 0, links.fd, links.bk,
		    links.fd, links.bk);
	}
}

/* References that are found by way of one another. */
TEST(links_among_chained_references)
{
	struct links links = make_links();
	uintptr_t *holder = (uintptr_t *)marking_node(2);
	void **target;
	int i;

	root_value(holder);
	for (i = 0; i < 9; i++) {
		target = marking_node(5);
		holder[0] = (uintptr_t)(target + 4);
		holder = (uintptr_t *)target;
	}
	EXPECT(true, true, 0, links.fd, links.bk, links.fd, links.bk);
}

/* More than there are blocks: then malloc did not leave them. */
TEST(links_without_number)
{
	static uintptr_t many[1 << 14];
	struct links links;
	size_t i;

	marking_open_heap(FAKE_SPAN, sizeof(many) + 4096);
	links.reused = (uintptr_t *)marking_node(sizeof(many) / W);
	links.x = marking_node(3);
	links.f = marking_node(5);
	links.y = marking_node(3);
	links.b = marking_node(5);
	marking_node(1);
	for (i = 0; i < sizeof(many) / W; i += 2) {
		links.reused[i] = (uintptr_t)(links.f - 2);
		links.reused[i + 1] = (uintptr_t)(links.b - 2);
	}
	root_value(links.reused);
	expect_marked(&links, true, true);
	marking_open_heap(FAKE_SPAN, 4096);
}

SUITE(.teardown = marking_teardown);
