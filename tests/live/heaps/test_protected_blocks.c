/*
 * mprotect() on pages inside blocks: the example in mprotect(2), guard pages of
 * stacks from malloc().
 *
 * The kernel splits the mapping of the heap there. The heap is one all the
 * same, the block is counted, and only what the program cannot read is lost.
 */
#include "tests/support/pass/live_mappings.h"
#include "tests/support/suite.h"

#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif

#define PAGE ((size_t)4096)
#define SMALL (8 * PAGE)   /* from the arena's heap */
#define LARGE (512 * PAGE) /* by mmap */

static const int protections[] = { PROT_NONE, PROT_READ, PROT_READ | PROT_EXEC,
	PROT_WRITE };
#define NUM_PROTECTIONS (int)(sizeof(protections) / sizeof(*protections))

static void *global;

/* The page PAGES behind the first that begins in the block. */
LIVE void
protect(uintptr_t hidden, size_t pages, int protection)
{
	uintptr_t page = (uintptr_t)mu_reveal(hidden) + PAGE - 1;

	page -= page % PAGE;
	ck_assert_int_eq(
	    mprotect((char *)page + pages * PAGE, PAGE, protection), 0);
}

/* Referred to, lost, with a block that only the page refers to, and freed. */
LIVE void
play(size_t size, int protection)
{
	uintptr_t block = block_new(size), other = block_new(72);

	put(&global, block);
	EXPECT_LEAKS(1);
	block_link(block, 3 * PAGE, other);
	EXPECT_LEAKS(0);
	protect(block, 2, protection);
	EXPECT_LEAKS(0);
	drop(&global);
	EXPECT_LEAKS(2);
	put(&global, block);
	protect(block, 2, PROT_READ | PROT_WRITE);
	block_link(block, 3 * PAGE, 0);
	drop(&global);
	block_free(block);
	block_free(other);
	EXPECT_LEAKS(0);
}

TEST_LOOP(main_heap, 0, NUM_PROTECTIONS)
{
	play(SMALL, protections[_i]);
}

TEST_LOOP(mmapped, 0, NUM_PROTECTIONS)
{
	play(LARGE, protections[_i]);
}

static void
thread_body(struct worker *worker)
{
	const int *protection = worker->context;

	put(&global, block_new(SMALL));
	worker->hidden = mu_hide(global);
	protect(worker->hidden, 2, *protection);
	worker_park(worker);
	protect(worker->hidden, 2, PROT_READ | PROT_WRITE);
	block_free(worker->hidden);
}

TEST_LOOP(arena_of_a_thread, 0, NUM_PROTECTIONS)
{
	struct worker worker = { .body = thread_body,
		.context = (void *)&protections[_i] };

	mallopt(M_ARENA_MAX, 4);
	worker_start(&worker);
	EXPECT_LEAKS(0);
	drop(&global);
	EXPECT_LOST(worker.hidden);
	worker_finish(&worker);
	EXPECT_LEAKS(0);
}

/* It was never written, so it has no page. */
TEST_LOOP(guard_of_a_stack, 0, 2)
{
	static const size_t sizes[] = { SMALL, LARGE };
	void *block = malloc(sizes[_i]);
	uintptr_t hidden = mu_hide(block);

	ck_assert_ptr_nonnull(block);
	block = NULL;
	put(&global, hidden);
	protect(hidden, 0, PROT_NONE);
	EXPECT_LEAKS(0);
	drop(&global);
	EXPECT_LOST(hidden);
}

/* memalign(), as in mprotect(2): with its header in the page before. */
TEST_LOOP(aligned, 0, 2)
{
	static const size_t sizes[] = { 4 * PAGE, LARGE };
	uintptr_t hidden = mu_hide(block_fresh(PAGE, sizes[_i]));

	put(&global, hidden);
	protect(hidden, 0, PROT_NONE);
	protect(hidden, 2, PROT_READ);
	EXPECT_LEAKS(0);
	drop(&global);
	EXPECT_LOST(hidden);
}

/* Not inline: the address stays in its frame. */
static __attribute__((noinline)) int
protect_with_header(uintptr_t hidden, int protection)
{
	char *page = mu_reveal(hidden);

	page -= (uintptr_t)page % PAGE;
	return mprotect(page, LARGE + PAGE, protection);
}

/* The program closes all of it, and the header too, until it is wanted. */
TEST_LOOP(closed_with_its_header, 0, NUM_PROTECTIONS)
{
	uintptr_t hidden = block_new(LARGE);

	put(&global, hidden);
	ck_assert_int_eq(protect_with_header(hidden, protections[_i]), 0);
	EXPECT_LEAKS(0);
	drop(&global);
	EXPECT_LOST(hidden);
}

/* brk() fails: the arena continues in anonymous memory. */
TEST(without_brk)
{
	uintptr_t end = (uintptr_t)sbrk(0), blocks[40];
	size_t i;

	end += -end % PAGE;
	ck_assert_ptr_ne(
	    mmap((void *)end, PAGE, PROT_NONE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0),
	    MAP_FAILED);
	for (i = 0; i < 40; i++) {
		blocks[i] = block_new(2 * SMALL);
		protect(blocks[i], 1, protections[i % NUM_PROTECTIONS]);
	}
	EXPECT_LEAKS(40);
}

TEST(many)
{
	uintptr_t blocks[200];
	size_t i;

	for (i = 0; i < 200; i++) {
		blocks[i] = block_new(SMALL);
		protect(blocks[i], i % 5, protections[i % NUM_PROTECTIONS]);
	}
	EXPECT_LEAKS(200);
}
