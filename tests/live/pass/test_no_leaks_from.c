/*
 * memunreachable_no_leaks_from(), called by a listener with a large frame. That
 * frame covers old frames of the test, and has slots that were never written.
 */
#include "tests/support/live.h"
#include "tests/support/suite.h"

#define BLOCKS 18
#define FRAME 0x380

/* The test: its frame is full of what it loses. */
LIVE void
lose_all(void)
{
	void *volatile blocks[BLOCKS * 4];
	size_t i;

	for (i = 0; i < BLOCKS * 4; i++)
		blocks[i] = i % 4 == 0 ? mu_reveal(block_new(72)) : NULL;
	for (i = 0; i < BLOCKS * 4; i++)
		if (blocks[i] == (void *)1)
			abort();
}

/* A message that is hardly ever written. */
LIVE bool
listen(bool from, bool write)
{
	volatile char message[FRAME];

	if (write)
		memset((char *)message, 'x', sizeof(message));
	__asm__ volatile("" : : "r"(message) : "memory");
	return from ? memunreachable_no_leaks_from(__builtin_frame_address(0))
		    : NoLeaks();
}

TEST(large_frame)
{
	ck_assert(listen(true, false));
	lose_all();
	/* What it is for: this one may be right by chance only. */
	printf("NoLeaks() from the large frame: %d\n", listen(false, false));
	ck_assert(!listen(true, false));
	EXPECT_LEAKS(BLOCKS);
}

LIVE void *
one_block(void)
{
	return block_fresh(0, 72);
}

/* References of the callers, on the stack and in registers, count. */
TEST(callers_count)
{
	void *volatile on_stack = one_block();
	register void *in_register = one_block();

	__asm__ volatile("" : "+r"(in_register));
	ck_assert(listen(true, false));
	ck_assert(memunreachable_no_leaks_from(__builtin_frame_address(0)));
	__asm__ volatile("" : : "r"(in_register));
	(void)on_stack;
}

#if defined(__x86_64__)
/*
 * bool ask_with(hidden, listen): the address in every register that calls
 * preserve, in turn, and nowhere else. The listener may save it, or not.
 */
#define ASK_WITH(register)                                                                                                                                              \
	bool ask_with_##register(                                                                                                                                       \
	    uintptr_t hidden, bool (*call)(bool from, bool write));                                                                                                     \
	__asm__(                                                                                                                                                        \
	    ".text\nask_with_" #register ":\n\tpushq %" #register "\n\tnotq %rdi\n\tmovq %rdi, %" #register "\n\tmovl $1, %edi\n\tmovq %rsi, %rax\n\txorl %esi, %esi\n" \
													    "\tcallq *%rax\n\tpopq %" #register "\n\tret\n")

ASK_WITH(rbx);
ASK_WITH(rbp);
ASK_WITH(r12);
ASK_WITH(r13);
ASK_WITH(r14);
ASK_WITH(r15);

/* One that uses, and so saves, all of them. */
LIVE bool
listen_busy(bool from, bool write)
{
	volatile char message[FRAME];

	__asm__ volatile(""
			 :
			 : "r"(message)
			 : "rbx", "r12", "r13", "r14", "r15", "memory");
	(void)write;
	(void)from;
	return memunreachable_no_leaks_from(__builtin_frame_address(0));
}

TEST_LOOP(saved_registers_count, 0, 6)
{
	static bool (*const asks[])(
	    uintptr_t, bool (*)(bool, bool)) = { ask_with_rbx, ask_with_rbp,
		ask_with_r12, ask_with_r13, ask_with_r14, ask_with_r15 };
	uintptr_t block = block_new(72);

	EXPECT_LEAKS(1);
	scrub();
	ck_assert(asks[_i](block, listen));
	scrub();
	ck_assert(asks[_i](block, listen_busy));
	EXPECT_LOST(block);
}
#endif

/* No frame of this stack: nothing is left out. */
TEST(no_frame)
{
	void *volatile on_stack = one_block();
	char *heap = one_block();

	ck_assert(memunreachable_no_leaks_from(NULL));
	ck_assert(memunreachable_no_leaks_from(heap));
	ck_assert(memunreachable_no_leaks_from((void *)UINTPTR_MAX));
	(void)on_stack;
}
