/*
 * A stack that was captured before is recognised; no other stack is mistaken
 * for it.
 */
#include <alloca.h>
#include <sys/time.h>

#include "tests/support/recorder/stack_compare.h"
#include "tests/support/suite.h"

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
TEST(stale_words_are_not_believed)
{
	unsigned i;

	for (i = 0; i < 40; i++)
		lower_part(64 + i / 4 % 4 * 64, 1024, i % 4 < 2);
	for (i = 0; i < 40; i++)
		lower_part(64 + i * 7 % 4 * 64, 1024, i * 7 % 4 % 2);
	ck_assert_uint_eq(compared.times, 80);
}

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

/* A handler may come in the middle of a walk, and do one itself. */
TEST(threads_and_signals)
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
TEST(broken_walks_teach_nothing)
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

void _start(void);

/* One that was cut short, and one that has ended, may have the same layout. */
TEST(short_walks_are_not_whole_ones)
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
TEST(layouts_do_not_fill_memory)
{
	uintptr_t frames[] = { 0x1000, 0x2000 };
	uint32_t before = stack_depot_put(frames, 1, 0), after;
	unsigned i;

	for (i = 0; i < 300000; i++)
		by_frames_of_any_size(i * 2654435761u, 3);
	after = stack_depot_put(frames, 2, 0);
	ck_assert_uint_lt((after - before) * (uint64_t)MU_DEPOT_UNIT, 8 << 20);
}

/* Of a child, and after code has gone: other stacks, and other layouts. */
TEST(flags_and_code_count)
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

TEST(no_frames_wanted)
{
	uintptr_t frame;

	ck_assert_uint_eq(stack_capture(STACK_START(), false, &frame, 0), 0);
	ck_assert_uint_eq(
	    stack_capture_unit(STACK_START(), 0, 0), MU_STACK_EMPTY);
}

SUITE(.setup = compare_setup);
