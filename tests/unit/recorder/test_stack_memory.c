/* Stacks with arbitrary contents: no unreadable address is read. */
#include "lib/malloc_debug/unwind/stack_capture.h"
#include "lib/malloc_debug/unwind/stack_capture_memory.h"
#include "lib/malloc_debug/unwind/stack_depot.h"
#include "tests/support/suite.h"

#define PAGE 4096ul
#define PAGES 200
#define MAX_FRAMES 256

static char *area; /* with a page on both sides that cannot be read */

static void
setup(void)
{
	area = mmap(NULL, (PAGES + 2) * PAGE, PROT_NONE,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ck_assert_ptr_ne(area, MAP_FAILED);
	area += PAGE;
	ck_assert_int_eq(
	    mprotect(area, PAGES * PAGE, PROT_READ | PROT_WRITE), 0);
	ck_assert(stack_depot_init());
	ck_assert(stack_capture_init());
}

static uintptr_t
at(size_t offset)
{
	return (uintptr_t)area + offset;
}

TEST(pages_are_tried)
{
	int here;

	ck_assert(stack_memory_probe((uintptr_t)&here));
	ck_assert(stack_memory_probe(at(0)));
	ck_assert(stack_memory_probe(at(PAGES * PAGE - 1)));
	ck_assert(!stack_memory_probe(at(PAGES * PAGE)));
	ck_assert(!stack_memory_probe(at(0) - 1));
	ck_assert(!stack_memory_probe(0));
	ck_assert(!stack_memory_probe(8));
	ck_assert(!stack_memory_probe(UINTPTR_MAX));
	ck_assert(!stack_memory_probe((uintptr_t)1 << 63));
	mprotect(area, PAGE, PROT_READ);
	ck_assert(stack_memory_probe(at(0)));
}

/* A walk on a stack that is not the thread's own. */
TEST(ranges_grow_to_what_is_there)
{
	struct stack_memory memory = { 0 };

	ck_assert(stack_memory_begin(&memory, at(50 * PAGE + 8), 0));
	ck_assert_uint_eq(memory.now.low, at(50 * PAGE));
	ck_assert_uint_eq(memory.now.high, at(51 * PAGE));
	ck_assert(stack_memory_reach(&memory, at(53 * PAGE)));
	ck_assert_uint_eq(memory.now.high, at(54 * PAGE));
	/* Over a frame of 400 KiB and back. */
	ck_assert(stack_memory_reach(&memory, at(155 * PAGE)));
	ck_assert_uint_eq(memory.now.low, at(155 * PAGE));
	ck_assert_uint_eq(memory.other.low, at(50 * PAGE));
	ck_assert(stack_memory_reach(&memory, at(51 * PAGE)));
	ck_assert_uint_eq(memory.now.low, at(50 * PAGE));
	ck_assert_uint_eq(memory.other.low, at(155 * PAGE));
	/* The end. */
	ck_assert(stack_memory_begin(&memory, at(190 * PAGE), 0));
	ck_assert(!stack_memory_reach(&memory, at(PAGES * PAGE)));
	ck_assert_uint_eq(memory.now.high, at(PAGES * PAGE));
}

/* It is there as long as the thread: nothing of it is tried again. */
TEST(own_stack_is_remembered)
{
	struct stack_memory memory = { 0 };
	uintptr_t top = at(PAGES * PAGE);

	ck_assert(stack_memory_begin(&memory, at(50 * PAGE + 8), top));
	ck_assert_uint_eq(memory.now.low, at(50 * PAGE));
	ck_assert_uint_eq(memory.now.high, top);
	/* Deeper, as stacks grow. */
	ck_assert(stack_memory_begin(&memory, at(40 * PAGE + 16), top));
	ck_assert_uint_eq(memory.now.low, at(40 * PAGE));
	ck_assert_uint_eq(memory.now.high, top);
	/* Another stack between, and back. */
	ck_assert(stack_memory_begin(&memory, (uintptr_t)&memory, top));
	ck_assert(stack_memory_begin(&memory, at(60 * PAGE), top));
	ck_assert_uint_eq(memory.now.low, at(40 * PAGE));
	ck_assert_uint_eq(memory.now.high, top);
}

/* A stack of a coroutine is given back, and a smaller one takes its place. */
TEST(foreign_stacks_are_forgotten)
{
	struct stack_memory memory = { 0 };
	uintptr_t top = at(PAGES * PAGE);

	mprotect(area + 20 * PAGE, PAGE, PROT_NONE);
	ck_assert(stack_memory_begin(&memory, at(10 * PAGE), top));
	ck_assert(stack_memory_reach(&memory, at(12 * PAGE)));
	mprotect(area + 12 * PAGE, 8 * PAGE, PROT_NONE);
	ck_assert(stack_memory_begin(&memory, at(11 * PAGE), top));
	ck_assert(!stack_memory_reach(&memory, at(12 * PAGE)));
	mprotect(area, 12 * PAGE, PROT_NONE);
	ck_assert(!stack_memory_begin(&memory, at(11 * PAGE), top));
}

TEST(a_gap_between_two_stacks)
{
	struct stack_memory memory = { 0 };

	mprotect(area + 20 * PAGE, PAGE, PROT_NONE);
	ck_assert(stack_memory_begin(&memory, at(30 * PAGE), 0));
	/* Near, and yet another one. */
	ck_assert(stack_memory_begin(&memory, at(15 * PAGE), 0));
	ck_assert_uint_eq(memory.now.low, at(15 * PAGE));
	ck_assert_uint_le(memory.now.high, at(20 * PAGE));
	ck_assert(!stack_memory_reach(&memory, at(20 * PAGE)));
}

static uint32_t state = 1;

static uint32_t
next(void)
{
	state = state * 1664525u + 1013904223u;
	return state >> 8;
}

static uintptr_t known[64]; /* addresses of code */
static size_t num_known;

/* Something that a walk might follow: code, stack, near misses, garbage. */
static uintptr_t
any_word(void)
{
	switch (next() % 6) {
	case 0:
	case 1:
		return known[next() % num_known] + next() % 64;
	case 2:
		return at(next() % ((PAGES + 1) * PAGE) & ~7ul);
	case 3:
		return at(next() % (PAGES * PAGE));
	case 4:
		return (uintptr_t)next() << (next() % 40);
	default:
		return 0 - (uintptr_t)(next() % 4096);
	}
}

static int
take_code(const void *a, const void *b)
{
	struct stack_start start = STACK_START();
	uintptr_t frames[32];
	size_t i, num = stack_capture(start, false, frames, 32);

	for (i = 0; i < num && num_known < 64; i++)
		known[num_known++] = frames[i] + 1;
	return (a > b) - (a < b);
}

TEST(smashed_stacks)
{
	uintptr_t frames[MAX_FRAMES], *words = (uintptr_t *)area;
	size_t round, i, longest = 0, num;
	int pair[] = { 1, 2 };

	qsort(pair, 2, sizeof(*pair), take_code);
	known[num_known++] = (uintptr_t)qsort;
	known[num_known++] = (uintptr_t)raise;
	known[num_known++] = (uintptr_t)stack_capture_at;
	for (round = 0; round < 30000; round++) {
		struct stack_start start = { any_word(), 0, any_word() };

		for (i = 0; i < (round % 100 == 0 ? PAGES * PAGE / 8 : 64); i++)
			words[next() % (PAGES * PAGE / 8)] = any_word();
		start.sp = any_word();
		if (round % 8 != 0)
			start.sp = at(next() % (PAGES * PAGE) & ~7ul);
		num = stack_capture(start, false, frames, MAX_FRAMES);
		ck_assert_uint_le(num, MAX_FRAMES);
		if (num > longest)
			longest = num;
		stack_capture_unit(start, 16, 0);
	}
	ck_assert_uint_gt(longest, 5);
}

/* The frame pointer is all there is where code has no tables. */
TEST(code_without_tables)
{
	uintptr_t *words = (uintptr_t *)area, frames[8];
	char *code = mmap(NULL, PAGE, PROT_READ | PROT_EXEC,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uintptr_t pc = (uintptr_t)code + 100;
	struct stack_start start = { pc, at(0), at(64) };
	size_t i;

	memset(area, 0xff, PAGE);
	for (i = 8; i < 80; i += 8) {
		words[i] = i == 72 ? 0 : at((i + 8) * 8);
		words[i + 1] = pc + i;
	}
	ck_assert_uint_eq(stack_capture(start, false, frames, 8), 8);
	for (i = 1; i < 8; i++)
		ck_assert_uint_eq(frames[i], pc + i * 8 - (pc - frames[0]));
	/* Backwards it does not go. */
	words[16] = at(64);
	ck_assert_uint_eq(stack_capture(start, false, frames, 8), 2);
	start.fp = at(0) - 8;
	ck_assert_uint_eq(stack_capture(start, false, frames, 8), 1);
	start.fp = at(65);
	ck_assert_uint_eq(stack_capture(start, false, frames, 8), 1);
	start.fp = at(PAGES * PAGE - 8);
	ck_assert_uint_eq(stack_capture(start, false, frames, 8), 1);
}

SUITE(.setup = setup);
