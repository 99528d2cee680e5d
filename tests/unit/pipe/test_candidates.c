/*
 * The candidates that a first look sends to the second: all arrive, in the
 * order of addresses; if the sender dies or sends damaged data, there is no
 * answer.
 */
#include "lib/pipe/candidates.h"
#include "lib/state/sweeper_end.h"
#include "tests/support/heaps/fake_heap.h"
#include "tests/support/pass/sweeper_pipe.h"
#include "tests/support/suite.h"

#define BLOCKS 20000 /* 320 KB: five times the pipe's 64 KiB */

static struct fake_heap heap;
static struct mu_image image;
static void *blocks[BLOCKS];
static int writing_end;

static void
setup(void)
{
	image = (struct mu_image) { .query = { 0 } };
	writing_end = sweeper_pipe_open(&image, (size_t)1 << 20);
	ck_assert_int_ge(writing_end, 0);
}

static void
teardown(void)
{
	sweeper_pipe_close(&image, writing_end);
}

static void *
send_all(void *arg)
{
	ck_assert(mu_candidates_send(writing_end, &heap.blocks, NULL));
	close(writing_end);
	writing_end = -1;
	return arg;
}

/* Every third block is reachable. */
static void
make_blocks(int kind)
{
	struct mu_block found;
	size_t i;

	fake_heap_open(&heap, kind, BLOCKS * 64);
	for (i = 0; i < BLOCKS; i++)
		blocks[i] = fake_block(&heap, 24, false);
	fake_heap_seal(&heap);
	ck_assert(mu_blocks_unmark(
	    &heap.blocks, &heap.arena, mu_blocks_number(&heap.blocks)));
	for (i = 0; i < BLOCKS; i += 3) {
		ck_assert(
		    mu_blocks_find(&heap.blocks, (uintptr_t)blocks[i], &found));
		mu_block_mark(&found);
	}
}

TEST_LOOP(all_arrive, 0, FAKE_KINDS)
{
	size_t i, n = 0, count = BLOCKS - (BLOCKS + 2) / 3;
	pthread_t thread;

	make_blocks(_i);
	/* A sweeper that lives, however long the sender takes. */
	image.sweeper.pid = fork();
	ck_assert_int_ge(image.sweeper.pid, 0);
	if (image.sweeper.pid == 0)
		for (;;)
			pause();
	ck_assert_int_eq(pthread_create(&thread, NULL, send_all, NULL), 0);
	ck_assert_int_eq(mu_candidates_receive(&image, count), MU_OK);
	pthread_join(thread, NULL);
	mu_sweeper_reap(&image.sweeper, 0);
	ck_assert_uint_eq(image.query.num_candidates, count);
	for (i = 0; i < BLOCKS; i++) {
		if (i % 3 == 0)
			continue;
		ck_assert_uint_eq(
		    image.query.candidates[n].begin, (uintptr_t)blocks[i]);
		ck_assert_uint_eq(mu_range_size(image.query.candidates[n++]),
		    fake_usable(&heap, 24));
	}
	ck_assert_uint_eq(n, count);
	fake_heap_close(&heap);
}

TEST(none)
{
	ck_assert_int_eq(mu_candidates_receive(&image, 0), MU_OK);
	ck_assert_uint_eq(image.query.num_candidates, 0);
}

TEST(a_sender_that_dies)
{
	char half[40] = "";

	ck_assert_int_eq(
	    write(writing_end, half, sizeof(half)), (int)sizeof(half));
	close(writing_end);
	writing_end = -1;
	ck_assert_int_eq(mu_candidates_receive(&image, 3), MU_ERR_HELPER_DIED);
}

/* Whatever number it says. */
TEST(more_than_there_is_room_for)
{
	static const size_t counts[] = { (size_t)1 << 17, SIZE_MAX / 16,
		SIZE_MAX };
	size_t i;

	for (i = 0; i < 3; i++) {
		ck_assert_int_eq(
		    mu_candidates_receive(&image, counts[i]), MU_ERR_NO_MEMORY);
		ck_assert_uint_eq(image.query.num_candidates, 0);
		ck_assert_ptr_nonnull(
		    strstr(image.job.why.text, "for the second look"));
	}
}

SUITE(.setup = setup, .teardown = teardown);
