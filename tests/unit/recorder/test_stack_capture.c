/*
 * Captured stacks are those of _Unwind_Backtrace(), frame by frame, wherever
 * they lie and however the code was compiled.
 */
#include <alloca.h>
#include <ucontext.h>

#include "tests/support/recorder/stack_compare.h"
#include "tests/support/suite.h"

static int
compare_ints(const void *a, const void *b)
{
	int x = *(const int *)a, y = *(const int *)b;

	compare_here();
	return (x > y) - (x < y);
}

TEST(through_the_c_library)
{
	int numbers[] = { 5, 2, 9, 1 }, nine = 9;

	qsort(numbers, 4, sizeof(*numbers), compare_ints);
	ck_assert_ptr_nonnull(
	    bsearch(&nine, numbers, 4, sizeof(*numbers), compare_ints));
	ck_assert_uint_gt(compared.times, 3);
}

FUNCTION("O2,omit-frame-pointer")
static void
without_pointer(volatile unsigned *depth)
{
	char room[40];

	KEEP(room);
	if (--*depth == 0)
		compare_here();
	else
		without_pointer(depth);
	KEEP(depth);
}

FUNCTION("O2,no-omit-frame-pointer")
static void
with_pointer(volatile unsigned *depth)
{
	if (--*depth == 0)
		compare_here();
	else
		with_pointer(depth);
	KEEP(depth);
}

FUNCTION("O0")
static void
unoptimized(volatile unsigned *depth)
{
	if (--*depth == 0)
		compare_here();
	else
		unoptimized(depth);
	KEEP(depth);
}

FUNCTION("O2,omit-frame-pointer")
static void
any_of_them(volatile unsigned *depth, unsigned ways)
{
	char room[72];

	KEEP(room);
	if (*depth <= 1)
		compare_here();
	else if (ways % 3 == 0)
		without_pointer(depth);
	else if (ways % 3 == 1)
		with_pointer(depth);
	else
		unoptimized(depth);
	KEEP(depth);
}

TEST(by_every_compilation)
{
	unsigned ways;
	volatile unsigned depth;

	for (ways = 0; ways < 40; ways++) {
		depth = 1 + ways;
		any_of_them(&depth, ways);
	}
	ck_assert_uint_eq(compared.times, 40);
}

TEST(deep_recursion)
{
	volatile unsigned depth = 300;

	without_pointer(&depth);
	ck_assert_uint_gt(compared.num, 300);
	depth = 300;
	with_pointer(&depth);
	ck_assert_uint_gt(compared.num, 300);
	depth = 300;
	unoptimized(&depth);
	ck_assert_uint_gt(compared.num, 300);
}

FUNCTION("O2,omit-frame-pointer")
static void
of_any_size(size_t bytes, unsigned depth)
{
	char *room = alloca(bytes);
	char array[bytes + 1];

	room[0] = array[0] = 1;
	KEEP(room);
	KEEP(array);
	if (depth == 0)
		compare_here();
	else
		of_any_size(bytes * 2, depth - 1);
	KEEP(room);
}

/* The last of these frames is larger than what is tried page by page. */
TEST(frames_of_any_size)
{
	size_t bytes;

	for (bytes = 1; bytes < 300000; bytes = bytes * 3 + 7)
		of_any_size(bytes, 2);
	ck_assert_uint_gt(compared.times, 10);
}

FUNCTION("O2")
static void
aligned(unsigned depth)
{
	__attribute__((aligned(64))) volatile char room[64];

	room[depth] = 1;
	KEEP(room);
	if (depth == 0)
		compare_here();
	else
		aligned(depth - 1);
	KEEP(room);
}

FUNCTION("O2")
static void
aligned_of_any_size(size_t bytes)
{
	__attribute__((aligned(64))) volatile char room[64];
	char *more = alloca(bytes);

	more[0] = room[0] = 1;
	KEEP(more);
	aligned(2);
	KEEP(room);
}

TEST(stacks_aligned_anew)
{
	aligned(3);
	aligned_of_any_size(100);
	aligned_of_any_size(5000);
	ck_assert_uint_eq(compared.times, 3);
}

static void
on_signal(int signo)
{
	compare_here();
	KEEP(signo);
}

static void
handle(int flags)
{
	struct sigaction action = { .sa_handler = on_signal };

	action.sa_flags = flags;
	ck_assert_int_eq(sigaction(SIGUSR1, &action, NULL), 0);
	raise(SIGUSR1);
}

TEST(in_a_signal_handler)
{
	handle(0);
	ck_assert_uint_eq(compared.times, 1);
	ck_assert_uint_gt(compared.num, 4);
}

TEST(on_an_alternate_stack)
{
	stack_t stack = { .ss_sp = malloc(256 << 10), .ss_size = 256 << 10 };
	unsigned i;

	ck_assert_int_eq(sigaltstack(&stack, NULL), 0);
	for (i = 0; i < 3; i++) {
		handle(SA_ONSTACK);
		compare_here();
	}
	ck_assert_uint_eq(compared.times, 6);
	stack.ss_flags = SS_DISABLE;
	sigaltstack(&stack, NULL);
	free(stack.ss_sp);
}

FUNCTION("O2")
static void
handle_below(size_t bytes)
{
	char *room = alloca(bytes);

	KEEP(room);
	handle(SA_ONSTACK);
	KEEP(room);
}

static void *
on_two_stacks(void *stack)
{
	sigaltstack(stack, NULL);
	compare_here();
	handle(SA_ONSTACK);
	handle(SA_ONSTACK);
	return NULL;
}

/* Wherever in its page the frame is that was interrupted. */
TEST(from_an_alternate_stack_to_any_place)
{
	stack_t stack = { .ss_sp = malloc(256 << 10), .ss_size = 256 << 10 };
	size_t bytes;

	ck_assert_int_eq(sigaltstack(&stack, NULL), 0);
	for (bytes = 0; bytes < 4400; bytes += 48)
		handle_below(bytes);
	stack.ss_flags = SS_DISABLE;
	sigaltstack(&stack, NULL);
	free(stack.ss_sp);
}

/* Two stacks with a page between them that cannot be read. */
TEST(stacks_side_by_side)
{
	char *area = mmap(NULL, 256 << 10, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	stack_t stack = { .ss_sp = area, .ss_size = 124 << 10 };
	pthread_attr_t attr;
	pthread_t thread;

	ck_assert_ptr_ne(area, MAP_FAILED);
	ck_assert_int_eq(mprotect(area + (124 << 10), 4096, PROT_NONE), 0);
	pthread_attr_init(&attr);
	pthread_attr_setstack(&attr, area + (128 << 10), 128 << 10);
	ck_assert_int_eq(
	    pthread_create(&thread, &attr, on_two_stacks, &stack), 0);
	pthread_join(thread, NULL);
	ck_assert_uint_eq(compared.times, 3);
}

/*
 * The interrupted address is no return address: at the start of a function,
 * where nothing is pushed yet, the address minus one is in another function.
 */
static __attribute__((noinline, aligned(64))) void
faulting(volatile int *address)
{
	*address = 1;
	KEEP(address);
}

static void *fault_page;

static void
on_fault(int signo)
{
	compare_here();
	mprotect(fault_page, 4096, PROT_READ | PROT_WRITE);
	KEEP(signo);
}

TEST(of_a_fault)
{
	struct sigaction action = { .sa_handler = on_fault };

	fault_page =
	    mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ck_assert_int_eq(sigaction(SIGSEGV, &action, NULL), 0);
	faulting(fault_page);
	signal(SIGSEGV, SIG_DFL);
	ck_assert_uint_eq(compared.times, 1);
}

static void *
of_thread(void *arg)
{
	volatile unsigned depth = 20;

	without_pointer(&depth);
	handle(0);
	return arg;
}

TEST(in_a_thread)
{
	pthread_t thread;

	ck_assert_int_eq(pthread_create(&thread, NULL, of_thread, NULL), 0);
	pthread_join(thread, NULL);
	ck_assert_uint_eq(compared.times, 2);
}

static ucontext_t scheduler, coroutine;

static void
of_coroutine(void)
{
	volatile unsigned depth = 7;

	compare_here();
	swapcontext(&coroutine, &scheduler);
	without_pointer(&depth);
	swapcontext(&coroutine, &scheduler);
	compare_here();
}

TEST(in_a_coroutine)
{
	char *stack = malloc(256 << 10);
	unsigned i;

	getcontext(&coroutine);
	coroutine.uc_stack.ss_sp = stack;
	coroutine.uc_stack.ss_size = 256 << 10;
	coroutine.uc_link = &scheduler;
	makecontext(&coroutine, of_coroutine, 0);
	for (i = 0; i < 3; i++) {
		swapcontext(&scheduler, &coroutine);
		compare_here();
	}
	ck_assert_uint_eq(compared.times, 6);
	free(stack);
}

TEST(known_stacks_are_told_apart)
{
	volatile unsigned depth;
	unsigned i, ways;

	for (i = 0; i < 3; i++)
		for (ways = 0; ways < 120; ways++) {
			depth = 1 + ways % 7;
			any_of_them(&depth, ways);
		}
	ck_assert_uint_eq(compared.times, 360);
}

SUITE(.setup = compare_setup);
