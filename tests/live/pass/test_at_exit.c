/*
 * The report at the end of the program (at_exit=1): leaks change the exit
 * status, a check that could not run does not, and no output is lost.
 *
 * The scenarios are programs of their own: this one, run again.
 */
#include <sys/resource.h>

#include "memunreachable/memunreachable.h"
#include "tests/support/hide.h"
#include "tests/support/scenario.h"
#include "tests/support/suite.h"

#define DONE " unreachable out of "
#define ONE_LEAK "24 bytes in 1 allocation unreachable out of "

static struct child child;

static __attribute__((noinline)) uintptr_t
lose(void)
{
	return mu_hide(memset(malloc(24), 'x', 24));
}

/* This call makes the linker keep the library. */
bool (*volatile library)(void) = NoLeaks;

static int
exit_leaky(void)
{
	printf("kept in the buffer");
	lose();
	scrub_stack();
	return 0;
}

static int
exit_clean(void)
{
	printf("kept in the buffer");
	return 5;
}

static int
exit_unchecked(void)
{
	struct rlimit limit;

	exit_leaky();
	getrlimit(RLIMIT_NOFILE, &limit);
	limit.rlim_cur = 0;
	setrlimit(RLIMIT_NOFILE, &limit);
	return 6;
}

static int
exit_unchecked_well(void)
{
	exit_unchecked();
	return 0;
}

static void
say_goodbye(void)
{
	printf(", goodbye");
}

static int
exit_with_handlers(void)
{
	atexit(say_goodbye);
	exit_leaky();
	exit(9);
}

/* Pointers in main()'s own frame, as at -O0. */
static int
exit_from_frame(void)
{
	void *volatile blocks[8];
	size_t i;

	for (i = 0; i < 8; i++)
		blocks[i] = malloc(24);
	for (i = 0; i < 8; i++)
		if (blocks[i] == NULL)
			abort();
	return 0;
}

/* Every slot of a frame that is gone when exit() gets its own. */
static __attribute__((noinline)) void
fill_frame(void)
{
	void *volatile blocks[64];
	size_t i;

	for (i = 0; i < 64; i++)
		blocks[i] = malloc(24);
	for (i = 0; i < 64; i++)
		if (blocks[i] == NULL)
			abort();
}

static int
exit_over_frame(void)
{
	fill_frame();
	exit(0);
}

static void *
fill_and_exit(void *unused)
{
	(void)unused;
	fill_frame();
	exit(0);
}

static int
exit_over_frame_of_thread(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, fill_and_exit, NULL);
	pthread_join(thread, NULL);
	return 9;
}

/* The caller of exit() has six blocks in registers only. */
static __attribute__((noreturn)) void *
hold_and_exit(void *unused)
{
	static uintptr_t hidden[6];
	size_t i;

	(void)unused;
	for (i = 0; i < 6; i++)
		hidden[i] = mu_hide(malloc(24));
	scrub_stack();
#ifdef __x86_64__
	__asm__ volatile("movq 0(%0), %%rbx\n\tnotq %%rbx\n\t"
			 "movq 8(%0), %%r12\n\tnotq %%r12\n\t"
			 "movq 16(%0), %%r13\n\tnotq %%r13\n\t"
			 "movq 24(%0), %%r14\n\tnotq %%r14\n\t"
			 "movq 32(%0), %%r15\n\tnotq %%r15\n\t"
			 "movq 40(%0), %%rbp\n\tnotq %%rbp\n\t"
			 "andq $-16, %%rsp\n\tmovl $7, %%edi\n\tcall *%1"
			 :
			 : "S"(hidden), "a"(exit)
			 : "memory");
#else
	for (i = 0; i < 6; i++)
		free(mu_reveal(hidden[i]));
	exit(7);
#endif
	__builtin_unreachable();
}

static int
exit_holding(void)
{
	hold_and_exit(NULL);
}

static int
exit_holding_in_thread(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, hold_and_exit, NULL);
	pthread_join(thread, NULL);
	return 9;
}

static const struct scenario scenarios[] = {
	{ "exit_over_frame", exit_over_frame },
	{ "exit_over_frame_of_thread", exit_over_frame_of_thread },
	{ "exit_holding", exit_holding },
	{ "exit_holding_in_thread", exit_holding_in_thread },
	{ "exit_from_frame", exit_from_frame },
	{ "exit_leaky", exit_leaky },
	{ "exit_clean", exit_clean },
	{ "exit_unchecked", exit_unchecked },
	{ "exit_unchecked_well", exit_unchecked_well },
	{ "exit_with_handlers", exit_with_handlers },
	{ NULL, NULL },
};

TEST_LOOP(at_exit_leaks, 0, 2)
{
	child_run(&child, "exit_leaky",
	    _i == 0 ? "at_exit=1" : "at_exit=1:exitcode=7");
	child_assert_exit(&child, _i == 0 ? 23 : 7);
	ck_assert_str_eq(child.out_text, "kept in the buffer");
	ck_assert_uint_eq(count_text(child.err_text, ONE_LEAK), 1);
	ck_assert_uint_eq(
	    count_text(child.err_text, "  24 bytes unreachable at "), 1);
	ck_assert_uint_eq(count_text(child.err_text, DONE), 1);
}

/* exit() has its frames where main() had its own. */
TEST(at_exit_from_frame)
{
	child_run(&child, "exit_from_frame", "at_exit=1");
	child_assert_exit(&child, 23);
	ck_assert_uint_eq(
	    count_text(child.err_text, "192 bytes in 8 allocations unreach"),
	    1);
}

/*
 * The addresses lie where a function had its frame that the program called
 * before.
 */
TEST_LOOP(at_exit_over_frame, 0, 2)
{
	child_run(&child,
	    _i == 0 ? "exit_over_frame" : "exit_over_frame_of_thread",
	    "at_exit=1");
	child_assert_exit(&child, 23);
	ck_assert_uint_eq(
	    count_text(child.err_text, "1536 bytes in 64 allocations unreach"),
	    1);
}

/* What its caller keeps in registers is in use. */
TEST_LOOP(at_exit_holding, 0, 2)
{
	child_run(&child, _i == 0 ? "exit_holding" : "exit_holding_in_thread",
	    "at_exit=1");
	child_assert_exit(&child, 7);
	ck_assert_uint_eq(
	    count_text(child.err_text, "0 bytes in 0 allocations unreach"), 1);
}

TEST(at_exit_clean)
{
	child_run(&child, "exit_clean", "at_exit=1");
	child_assert_exit(&child, 5);
	ck_assert_str_eq(child.out_text, "kept in the buffer");
	ck_assert_uint_eq(
	    count_text(child.err_text, "0 bytes in 0 allocations unreachable"),
	    1);
}

TEST(at_exit_unchecked)
{
	child_run(&child, "exit_unchecked", "at_exit=1");
	child_assert_exit(&child, 6);
	ck_assert_str_eq(child.out_text, "kept in the buffer");
	ck_assert_uint_eq(
	    count_text(child.err_text, "unreachable memory detection failed: "),
	    1);
}

TEST_LOOP(at_exit_unchecked_is_not_clean, 0, 2)
{
	child_run(&child, "exit_unchecked_well",
	    _i == 0 ? "at_exit=1" : "at_exit=1:unchecked=ok");
	child_assert_exit(&child, _i == 0 ? 3 : 0);
	ck_assert_str_eq(child.out_text, "kept in the buffer");
}

TEST(at_exit_after_handlers)
{
	child_run(&child, "exit_with_handlers", "at_exit=1");
	child_assert_exit(&child, 23);
	ck_assert_str_eq(child.out_text, "kept in the buffer, goodbye");
}

TEST_LOOP(at_exit_unset, 0, 2)
{
	child_run(&child, "exit_leaky", _i == 0 ? NULL : "at_exit=0");
	child_assert_exit(&child, 0);
	ck_assert_str_eq(child.out_text, "kept in the buffer");
	ck_assert_str_eq(child.err_text, "");
}

SCENARIO_SUITE(scenarios, .timeout = 0);
