/*
 * Which words are left-over free-list links, seen through marking.
 */
#include <check.h>
#include <string.h>

#include "tests/support/marking.h"

/*
 * Chunks in a row: reused, x, f, y, b, z. reused holds fd and bk of an old
 * list in which f and b were its neighbours; x and y, before them, are what
 * the links seem to refer to. Only reused is reachable.
 */
struct links {
	void **reused, **x, **f, **y, **b;
	char *f_chunk, *b_chunk;
};

static void
make_links(struct links *links)
{
	open_heap(FAKE_SPAN, 4096);
	links->reused = node(11);
	links->x = node(3);
	links->f = node(5);
	links->y = node(3);
	links->b = node(5);
	node(1);
	links->f_chunk = (char *)(links->f - 2);
	links->b_chunk = (char *)(links->b - 2);
	root_value(links->reused);
}

static void
mark_links(const struct links *links, bool x, bool y)
{
	mark();
	ck_assert_int_eq(fake_marked(&heap, links->x), x);
	ck_assert_int_eq(fake_marked(&heap, links->y), y);
	fake_heap_close(&heap);
}

START_TEST(links_without_evidence)
{
	struct links links;
	int at;

	for (at = 0; at < 8; at++) {
		make_links(&links);
		links.reused[at] = links.f_chunk;
		links.reused[at + 1] = links.b_chunk;
		mark_links(&links, true, true);
	}
	open_heap(FAKE_SPAN, 4096);
}
END_TEST

START_TEST(links_of_neighbours_that_met)
{
	struct links links;
	int at, met;

	for (at = 0; at < 8; at++) {
		for (met = 1; met < 4; met++) {
			make_links(&links);
			links.reused[at] = links.f_chunk;
			links.reused[at + 1] = links.b_chunk;
			if (met & 1)
				links.f[1] = links.b_chunk;
			if (met & 2)
				links.b[0] = links.f_chunk;
			/* A pair is at a multiple of 16. */
			mark_links(&links, at % 2 == 1, at % 2 == 1);
		}
	}
	open_heap(FAKE_SPAN, 4096);
}
END_TEST

START_TEST(links_to_bins)
{
	static const struct mu_range bins[] = { { 0x1000, 0x1800 },
		{ 0x7000, 0x7800 } };
	struct links links;
	int swapped;

	for (swapped = 0; swapped < 2; swapped++) {
		make_links(&links);
		heap.blocks.bins = bins;
		heap.blocks.num_bins = 2;
		links.reused[swapped] = links.f_chunk;
		links.reused[1 - swapped] = (void *)0x7010;
		links.reused[2 + swapped] = links.b_chunk;
		links.reused[3 - swapped] = (void *)0x1800;
		mark_links(&links, false, true);
	}
	open_heap(FAKE_SPAN, 4096);
}
END_TEST

START_TEST(links_of_large_chunks_that_met)
{
	struct links links;
	int met;

	for (met = 1; met < 4; met++) {
		make_links(&links);
		links.reused[2] = links.f_chunk;
		links.reused[3] = links.b_chunk;
		if (met & 1)
			links.f[3] = links.b_chunk;
		if (met & 2)
			links.b[2] = links.f_chunk;
		mark_links(&links, false, false);
	}
	open_heap(FAKE_SPAN, 4096);
}
END_TEST

/* A large chunk that was alone of its size: fd_nextsize is itself. */
START_TEST(links_to_itself)
{
	void **before, **reused;
	int at;

	for (at = 0; at < 8; at++) {
		open_heap(FAKE_SPAN, 4096);
		before = node(3);
		reused = node(11);
		node(1);
		reused[at] = reused - 2;
		root_value(reused);
		mark();
		ck_assert_int_eq(
		    fake_marked(&heap, before), at != 2 && at != 3);
		fake_heap_close(&heap);
	}
	open_heap(FAKE_SPAN, 4096);
}
END_TEST

/* Equal numbers are no evidence, nor is anything when a root refers. */
START_TEST(links_that_are_none)
{
	struct links links;
	void *slots[2] __attribute__((aligned(16)));

	make_links(&links);
	links.reused[0] = links.f_chunk;
	links.reused[1] = links.f[1] = NULL;
	links.reused[2] = links.b_chunk;
	links.reused[3] = links.b[1] = (void *)64;
	mark_links(&links, true, true);

	make_links(&links);
	slots[0] = links.f_chunk;
	slots[1] = links.b_chunk;
	links.f[1] = links.b_chunk;
	links.b[0] = links.f_chunk;
	root_range(slots, slots + 2);
	mark_links(&links, true, true);

	/* A registered region may lie in a block. */
	make_links(&links);
	roots.num_values = 0;
	links.reused[0] = links.f_chunk;
	links.reused[1] = links.b_chunk;
	links.f[1] = links.b_chunk;
	root_range(links.reused, links.reused + 2);
	mark_links(&links, true, true);

	make_links(&links);
	links.reused[0] = links.f_chunk;
	links.reused[1] = links.f[1] = links.b_chunk - 1;
	mark_links(&links, true, true);
	open_heap(FAKE_SPAN, 4096);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("links");
	TCase *links = tcase_create("Links");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_add_checked_fixture(links, NULL, teardown);
	tcase_add_test(links, links_without_evidence);
	tcase_add_test(links, links_of_neighbours_that_met);
	tcase_add_test(links, links_to_bins);
	tcase_add_test(links, links_of_large_chunks_that_met);
	tcase_add_test(links, links_to_itself);
	tcase_add_test(links, links_that_are_none);
	suite_add_tcase(suite, links);

	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}
