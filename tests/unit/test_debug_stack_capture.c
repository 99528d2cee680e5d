/*
 * Captured stacks are those of _Unwind_Backtrace(), frame by frame, wherever
 * they lie and however the code was compiled.
 */
#include <alloca.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <ucontext.h>

#include "tests/support/stack_compare.h"
#include "tests/support/suite.h"

/* What stands behind a call keeps it from being a jump. */
#define KEEP(value) __asm__ volatile("" ::"g"(value) : "memory")

#if defined(__clang__)
#define OPTIMIZED(how)
#else
#define OPTIMIZED(how) __attribute__((optimize(how)))
#endif
#define FUNCTION(how) __attribute__((noinline)) OPTIMIZED(how)

static int
compare_ints(const void *a, const void *b)
{
	int x = *(const int *)a, y = *(const int *)b;

	compare_here();
	return (x > y) - (x < y);
}

START_TEST(through_the_c_library)
{
	int numbers[] = { 5, 2, 9, 1 }, nine = 9;

	qsort(numbers, 4, sizeof(*numbers), compare_ints);
	ck_assert_ptr_nonnull(
	    bsearch(&nine, numbers, 4, sizeof(*numbers), compare_ints));
	ck_assert_uint_gt(compared.times, 3);
}
END_TEST

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

START_TEST(by_every_compilation)
{
	unsigned ways;
	volatile unsigned depth;

	for (ways = 0; ways < 40; ways++) {
		depth = 1 + ways;
		any_of_them(&depth, ways);
	}
	ck_assert_uint_eq(compared.times, 40);
}
END_TEST

START_TEST(deep_recursion)
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
END_TEST

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
START_TEST(frames_of_any_size)
{
	size_t bytes;

	for (bytes = 1; bytes < 300000; bytes = bytes * 3 + 7)
		of_any_size(bytes, 2);
	ck_assert_uint_gt(compared.times, 10);
}
END_TEST

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

START_TEST(stacks_aligned_anew)
{
	aligned(3);
	aligned_of_any_size(100);
	aligned_of_any_size(5000);
	ck_assert_uint_eq(compared.times, 3);
}
END_TEST

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

START_TEST(in_a_signal_handler)
{
	handle(0);
	ck_assert_uint_eq(compared.times, 1);
	ck_assert_uint_gt(compared.num, 4);
}
END_TEST

START_TEST(on_an_alternate_stack)
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
END_TEST

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
START_TEST(from_an_alternate_stack_to_any_place)
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
END_TEST

/* Two stacks with a page between them that cannot be read. */
START_TEST(stacks_side_by_side)
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
END_TEST

/* Where the signal comes is no return address: right at a function's begin,
 * where nothing is pushed yet, one less would be another function. */
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

START_TEST(of_a_fault)
{
	struct sigaction action = { .sa_handler = on_fault };

	fault_page =
	    mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ck_assert_int_eq(sigaction(SIGSEGV, &action, NULL), 0);
	faulting(fault_page);
	signal(SIGSEGV, SIG_DFL);
	ck_assert_uint_eq(compared.times, 1);
}
END_TEST

static void *
of_thread(void *arg)
{
	volatile unsigned depth = 20;

	without_pointer(&depth);
	handle(0);
	return arg;
}

START_TEST(in_a_thread)
{
	pthread_t thread;

	ck_assert_int_eq(pthread_create(&thread, NULL, of_thread, NULL), 0);
	pthread_join(thread, NULL);
	ck_assert_uint_eq(compared.times, 2);
}
END_TEST

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

START_TEST(in_a_coroutine)
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
END_TEST

START_TEST(known_stacks_are_told_apart)
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
END_TEST

FUNCTION("O2,omit-frame-pointer")
static void
upper_part(size_t bytes)
{
	char *room = alloca(bytes);

	KEEP(room);
	compare_here();
	KEEP(room);
}

FUNCTION("O2,omit-frame-pointer")
static void
lower_part(size_t bytes, size_t whole, bool way)
{
	char *room = alloca(bytes);

	KEEP(room);
	if (way)
		upper_part(whole - bytes);
	KEEP(room);
	if (!way)
		upper_part(whole - bytes);
	KEEP(room);
}

/*
 * The stack pointer is the same each time, and a return address of the other
 * way still lies where it lay before: that the frame pointer is another one
 * tells that it is stale.
 */
START_TEST(stale_words_are_not_believed)
{
	unsigned i;

	for (i = 0; i < 40; i++)
		lower_part(64 + i / 4 % 4 * 64, 1024, i % 4 < 2);
	for (i = 0; i < 40; i++)
		lower_part(64 + i * 7 % 4 * 64, 1024, i * 7 % 4 % 2);
	ck_assert_uint_eq(compared.times, 80);
}
END_TEST

static unsigned wrong, captured;

/* Quickly: the walk and what is known of it must be of one mind. */
static __attribute__((noinline)) void
capture_twice(void)
{
	struct stack_start start = STACK_START();
	uintptr_t frames[16];
	const struct mu_stack *stack =
	    stack_depot_get(stack_capture_unit(start, 16, 0));
	size_t num = stack_capture(start, false, frames, 16);

	if (stack == NULL || stack->num_frames != num || num < 3 ||
	    memcmp(stack->frames, frames, num * sizeof(*frames)) != 0)
		__atomic_fetch_add(&wrong, 1, __ATOMIC_RELAXED);
	__atomic_fetch_add(&captured, 1, __ATOMIC_RELAXED);
}

FUNCTION("O2,omit-frame-pointer")
static void
go_some_way(unsigned depth, unsigned ways)
{
	char *room = alloca((ways & 3) * 32 + 16);

	KEEP(room);
	if (depth == 0)
		capture_twice();
	else if (ways & 4)
		go_some_way(depth - 1, ways / 2);
	else
		go_some_way(depth - 1, ways / 3);
	KEEP(room);
}

static void
capture_at_signal(int signo)
{
	static volatile unsigned count;

	go_some_way(count % 5, count);
	count++;
	KEEP(signo);
}

static void *
capture_much(void *arg)
{
	unsigned i, state = (unsigned)(uintptr_t)arg;

	for (i = 0; i < 40000; i++) {
		state = state * 1664525u + 1013904223u;
		go_some_way(state >> 28, state >> 12);
		if (i % 10000 == 0)
			stack_capture_forget();
	}
	return NULL;
}

/* A handler may come in the midst of a walk, and do one itself. */
START_TEST(threads_and_signals)
{
	struct sigaction action = { .sa_handler = capture_at_signal,
		.sa_flags = SA_RESTART };
	struct itimerval every = { { 0, 200 }, { 0, 200 } };
	pthread_t threads[4];
	uintptr_t i;

	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &every, NULL);
	for (i = 0; i < 4; i++)
		pthread_create(
		    &threads[i], NULL, capture_much, (void *)(i + 1));
	for (i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	memset(&every, 0, sizeof(every));
	setitimer(ITIMER_REAL, &every, NULL);
	ck_assert_uint_gt(captured, 160000);
	ck_assert_uint_eq(wrong, 0);
}
END_TEST

static __attribute__((noinline)) uint32_t
unit_of_caller(size_t max)
{
	struct stack_start start = STACK_START();

	return stack_capture_unit(start, max, 0);
}

/* Its return address has changed since. */
FUNCTION("O2,no-omit-frame-pointer")
static uint32_t
unit_returning_to(uintptr_t address, size_t max)
{
	volatile uintptr_t *slot =
	    (volatile uintptr_t *)__builtin_frame_address(0) + 1;
	uintptr_t real = *slot;
	uint32_t unit;

	if (address != 1)
		*slot = address;
	unit = unit_of_caller(max);
	*slot = real;
	return unit;
}

#define AS_IT_IS 1

static size_t
frames_of(uint32_t unit)
{
	const struct mu_stack *stack = stack_depot_get(unit);

	return stack == NULL ? 0 : stack->num_frames;
}

/* A walk that was broken off says nothing of the words beyond. */
START_TEST(broken_walks_teach_nothing)
{
	static const uintptr_t addresses[] = { 0, 0, 0, AS_IT_IS, 0, AS_IT_IS,
		AS_IT_IS, 0, AS_IT_IS };
	size_t i;

	for (i = 0; i < sizeof(addresses) / sizeof(*addresses); i++) {
		size_t num = frames_of(unit_returning_to(addresses[i], 16));

		if (addresses[i] == 0)
			ck_assert_uint_eq(num, 1);
		else
			ck_assert_uint_gt(num, 3);
	}
}
END_TEST

void _start(void);

/* One that was cut short, and one that has ended, may have the same layout. */
START_TEST(short_walks_are_not_whole_ones)
{
	uintptr_t last = (uintptr_t)_start + 20;
	static const struct {
		bool ends;
		size_t max;
	} walks[] = { { false, 2 }, { true, 16 }, { false, 16 }, { false, 16 },
		{ true, 16 }, { false, 2 }, { false, 16 } };
	size_t i;

	for (i = 0; i < sizeof(walks) / sizeof(*walks); i++) {
		size_t num = frames_of(unit_returning_to(
		    walks[i].ends ? last : AS_IT_IS, walks[i].max));

		if (walks[i].ends || walks[i].max == 2)
			ck_assert_uint_eq(num, 2);
		else
			ck_assert_uint_gt(num, 3);
	}
}
END_TEST

FUNCTION("O2,omit-frame-pointer")
static void
by_frames_of_any_size(unsigned state, unsigned depth)
{
	char *room = alloca(16 + (state >> 8) % 4096);

	KEEP(room);
	if (depth == 0)
		unit_of_caller(16);
	else
		by_frames_of_any_size(
		    state * 1664525u + 1013904223u, depth - 1);
	KEEP(room);
}

/* Frames of many sizes have layouts without end; the depot must have one. */
START_TEST(layouts_do_not_fill_memory)
{
	uintptr_t frames[] = { 0x1000, 0x2000 };
	uint32_t before = stack_depot_put(frames, 1, 0), after;
	unsigned i;

	for (i = 0; i < 300000; i++)
		by_frames_of_any_size(i * 2654435761u, 3);
	after = stack_depot_put(frames, 2, 0);
	ck_assert_uint_lt((after - before) * (uint64_t)MU_DEPOT_UNIT, 8 << 20);
}
END_TEST

/* Of a child, and after code has gone: other stacks, and other layouts. */
START_TEST(flags_and_code_count)
{
	unsigned i;

	for (i = 0; i < 24; i++) {
		struct stack_start start = STACK_START();
		uint16_t flags = i / 3 % 2 == 0 ? 0 : MU_STACK_CHILD;
		uint32_t unit = stack_capture_unit(start, 16, flags);

		ck_assert_ptr_nonnull(stack_depot_get(unit));
		ck_assert_uint_eq(stack_depot_get(unit)->flags, flags);
		if (i % 12 == 11)
			stack_capture_forget();
	}
}
END_TEST

START_TEST(no_frames_wanted)
{
	uintptr_t frame;

	ck_assert_uint_eq(stack_capture(STACK_START(), false, &frame, 0), 0);
	ck_assert_uint_eq(
	    stack_capture_unit(STACK_START(), 0, 0), MU_STACK_EMPTY);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("debug_stack_capture");
	TCase *tcase = tcase_create("all");

	tcase_add_checked_fixture(tcase, compare_setup, NULL);
	tcase_add_test(tcase, through_the_c_library);
	tcase_add_test(tcase, by_every_compilation);
	tcase_add_test(tcase, deep_recursion);
	tcase_add_test(tcase, frames_of_any_size);
	tcase_add_test(tcase, stacks_aligned_anew);
	tcase_add_test(tcase, in_a_signal_handler);
	tcase_add_test(tcase, on_an_alternate_stack);
	tcase_add_test(tcase, from_an_alternate_stack_to_any_place);
	tcase_add_test(tcase, stacks_side_by_side);
	tcase_add_test(tcase, of_a_fault);
	tcase_add_test(tcase, in_a_thread);
	tcase_add_test(tcase, in_a_coroutine);
	tcase_add_test(tcase, known_stacks_are_told_apart);
	tcase_add_test(tcase, stale_words_are_not_believed);
	tcase_add_test(tcase, threads_and_signals);
	tcase_add_test(tcase, broken_walks_teach_nothing);
	tcase_add_test(tcase, short_walks_are_not_whole_ones);
	tcase_add_test(tcase, layouts_do_not_fill_memory);
	tcase_add_test(tcase, flags_and_code_count);
	tcase_add_test(tcase, no_frames_wanted);
	suite_add_tcase(suite, tcase);
	return suite_run(suite);
}
