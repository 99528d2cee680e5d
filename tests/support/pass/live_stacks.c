#include "tests/support/pass/live_stacks.h"

__attribute__((noinline)) void
expect_worker_root(void (*body)(struct worker *), void *context)
{
	static struct worker worker;

	worker.body = body;
	worker.context = context;
	worker.hidden = block_new(72);
	worker_start(&worker);
	EXPECT_LEAKS(0);
	worker_next(&worker);
	EXPECT_LOST(worker.hidden);
	worker_finish(&worker);
	EXPECT_LOST(worker.hidden);
}

__attribute__((noinline)) void *
map_stack(void)
{
	void *stack = mmap(NULL, 262144, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	ck_assert_ptr_ne(stack, MAP_FAILED);
	return stack;
}
