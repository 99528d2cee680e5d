/*
 * Roots: memory that a fork leaves out of the image (MADV_DONTFORK) or empties
 * there (MADV_WIPEONFORK). It counts like other memory, with its contents at
 * the stop. Passes that fail while reading it are tested in
 * test_gap_sync_damaged.c.
 */
#include "tests/support/pass/live_mappings.h"
#include "tests/support/suite.h"

static const int advices[] = { MADV_DONTFORK, MADV_WIPEONFORK };

static void *
map_private(void)
{
	return map(PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
}

static void
advise(void *mapping, int advice)
{
	ck_assert_int_eq(madvise(mapping, MAPPED, advice), 0);
}

TEST_LOOP(private_memory, 0, 2)
{
	void *mapping = map_private();

	advise(mapping, advices[_i]);
	expect_root(inside_mapping(mapping));
	expect_root((char *)mapping + MAPPED - 8);
	expect_root(mapping);
	ck_assert_int_eq(munmap(mapping, MAPPED), 0);
}

/* Written, then closed for writing. */
TEST_LOOP(read_only_memory, 0, 2)
{
	uintptr_t block = block_new(72);
	void *mapping = map_private();

	put(inside_mapping(mapping), block);
	ck_assert_int_eq(mprotect(mapping, MAPPED, PROT_READ), 0);
	advise(mapping, advices[_i]);
	EXPECT_LEAKS(0);
	ck_assert_int_eq(munmap(mapping, MAPPED), 0);
	EXPECT_LOST(block);
}

/* Several of both kinds at once, some of them gone again in the next pass. */
TEST(many_mappings)
{
	enum { MANY = 40 };
	void *mappings[MANY];
	uintptr_t block = block_new(72);
	int i;

	for (i = 0; i < MANY; i++) {
		mappings[i] = map_private();
		put(inside_mapping(mappings[i]), block);
		advise(mappings[i], advices[i % 2]);
	}
	for (i = 0; i < MANY; i += 3) {
		EXPECT_LEAKS(0);
		drop(inside_mapping(mappings[i]));
		ck_assert_int_eq(munmap(mappings[i], MAPPED), 0);
	}
	for (i = 0; i < MANY; i++)
		if (i % 3 != 0)
			drop(inside_mapping(mappings[i]));
	EXPECT_LOST(block);
}

/* MADV_WIPEONFORK is for private memory without a file only. */
TEST(shared_memory)
{
	void *mapping =
	    map(PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1);

	advise(mapping, MADV_DONTFORK);
	expect_doubt_of_files();
	expect_root(inside_mapping(mapping));
}

TEST(private_file)
{
	void *mapping =
	    map(PROT_READ | PROT_WRITE, MAP_PRIVATE, unnamed_file("/var/tmp"));

	advise(mapping, MADV_DONTFORK);
	expect_root(inside_mapping(mapping));
}

/* InfiniBand does this with the buffers that a program registers. */
TEST_LOOP(pages_of_a_block, 0, 4)
{
	static const size_t sizes[] = { 40960, 1048576 };
	static void *holders[4];
	uintptr_t block = block_new(72);
	size_t size = sizes[_i / 2];
	int i;

	/* The pages hold chunk headers and small blocks behind them, too. */
	for (i = 0; i < 4; i++) {
		holders[i] = block_fresh(4096, size);
		ck_assert_int_eq(madvise(holders[i], size, advices[_i % 2]), 0);
	}
	put((char *)holders[2] + 8192, block);
	EXPECT_LEAKS(0);
	drop((char *)holders[2] + 8192);
	EXPECT_LOST(block);
	put(&holders[3], block);
	EXPECT_LEAKS(1);
}

/*
 * The pointer is always in one of both places, never in neither. An answer
 * that reads one place after the stop finds it in none now and then.
 */
struct mover {
	void *volatile *places[2];
	uintptr_t hidden;
	bool stop;
	unsigned long moves;
};

static __attribute__((noinline)) void
move_once(struct mover *mover, int to)
{
	*mover->places[to] = mu_reveal(mover->hidden);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	*mover->places[1 - to] = NULL;
}

static void *
mover_main(void *arg)
{
	struct mover *mover = arg;

	while (!__atomic_load_n(&mover->stop, __ATOMIC_ACQUIRE)) {
		move_once(mover, mover->moves % 2);
		scrub_registers();
		__atomic_add_fetch(&mover->moves, 1, __ATOMIC_RELEASE);
	}
	return NULL;
}

TEST_LOOP(moves_all_the_time, 0, 2)
{
	static struct mover mover;
	void *mapping = map_private(), *plain = map_private();
	pthread_t thread;
	int i;

	advise(mapping, advices[_i]);
	mover.places[0] = inside_mapping(mapping);
	mover.places[1] = inside_mapping(plain);
	mover.hidden = block_new(72);
	put(inside_mapping(plain), mover.hidden);
	ck_assert_int_eq(pthread_create(&thread, NULL, mover_main, &mover), 0);
	for (i = 0; i < 60; i++)
		EXPECT_LEAKS(0);
	__atomic_store_n(&mover.stop, true, __ATOMIC_RELEASE);
	pthread_join(thread, NULL);
	ck_assert_uint_gt(mover.moves, 0);
	drop(inside_mapping(mapping));
	drop(inside_mapping(plain));
	EXPECT_LOST(mover.hidden);
}

/*
 * Every page that was never written stays so: reading them during the stop
 * would make the kernel put pages there.
 */
TEST_LOOP(untouched_pages, 0, 2)
{
	size_t size = (size_t)1 << 32;
	unsigned char resident[16];
	char *mapping = mmap(NULL, size, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	size_t i, count = 0;

	ck_assert_ptr_ne(mapping, MAP_FAILED);
	ck_assert_int_eq(madvise(mapping, size, MADV_NOHUGEPAGE), 0);
	ck_assert_int_eq(madvise(mapping, size, advices[_i]), 0);
	expect_root(mapping + size / 2 + 4096);
	ck_assert_int_eq(mincore(mapping + size / 2, 65536, resident), 0);
	for (i = 0; i < 16; i++)
		count += resident[i] & 1;
	ck_assert_uint_eq(count, 1);
}
