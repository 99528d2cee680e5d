/* Every stack is stored once, by any thread; other units are not stacks. */
#include "lib/malloc_debug/unwind/stack_depot.h"
#include "tests/support/suite.h"

#define THREADS 8
#define STACKS 20000
#define SLOTS 24 /* few: what is given back is soon taken again */

static void
setup(void)
{
	ck_assert(stack_depot_init());
	ck_assert(stack_depot_init());
}

/* The I-th stack: between 1 and 16 frames, many alike. */
static size_t
make_stack(uintptr_t *frames, unsigned i)
{
	size_t num = 1 + i % 16, k;

	for (k = 0; k < num; k++)
		frames[k] = 0x400000 + (k == num / 2 ? i * 4ul : k * 16);
	return num;
}

static void
check_stack(uint32_t unit, unsigned i)
{
	const struct mu_stack *stack = stack_depot_get(unit);
	uintptr_t frames[16];
	size_t num = make_stack(frames, i);

	ck_assert_ptr_nonnull(stack);
	ck_assert_uint_eq(stack->num_frames, num);
	ck_assert_mem_eq(stack->frames, frames, num * sizeof(*frames));
}

TEST(same_stack_same_unit)
{
	uintptr_t frames[16];
	uint32_t unit;
	unsigned i;

	for (i = 0; i < 1000; i++) {
		size_t num = make_stack(frames, i);

		unit = stack_depot_put(frames, num, 0);
		ck_assert_uint_ge(unit, MU_STACK_FIRST);
		ck_assert_uint_lt(unit, 1u << 28);
		ck_assert_uint_eq(stack_depot_put(frames, num, 0), unit);
		check_stack(unit, i);
	}
}

TEST(what_differs_is_apart)
{
	uintptr_t frames[3] = { 0x401000, 0x402000, 0x403000 };
	uint32_t whole = stack_depot_put(frames, 3, 0);
	uint32_t shorter = stack_depot_put(frames, 2, 0);
	uint32_t child = stack_depot_put(frames, 3, MU_STACK_CHILD);

	ck_assert_uint_ne(whole, shorter);
	ck_assert_uint_ne(whole, child);
	ck_assert_uint_eq(stack_depot_get(child)->flags, MU_STACK_CHILD);
	frames[0] = 0x402000;
	frames[1] = 0x401000;
	ck_assert_uint_ne(stack_depot_put(frames, 3, 0), whole);
	ck_assert_uint_eq(stack_depot_put(frames, 0, 0), MU_STACK_EMPTY);
}

static uint32_t units[THREADS][STACKS];
static pthread_barrier_t together;

static void *
put_all(void *arg)
{
	uint32_t *mine = arg;
	uintptr_t frames[16];
	unsigned i;

	pthread_barrier_wait(&together);
	for (i = 0; i < STACKS; i++)
		mine[i] = stack_depot_put(frames, make_stack(frames, i), 0);
	return NULL;
}

TEST(threads_agree)
{
	pthread_t threads[THREADS];
	unsigned i, t;

	pthread_barrier_init(&together, NULL, THREADS);
	for (t = 0; t < THREADS; t++)
		pthread_create(&threads[t], NULL, put_all, units[t]);
	for (t = 0; t < THREADS; t++)
		pthread_join(threads[t], NULL);
	for (i = 0; i < STACKS; i++) {
		check_stack(units[0][i], i);
		for (t = 1; t < THREADS; t++)
			ck_assert_uint_eq(units[t][i], units[0][i]);
	}
}

/* More than a block: entries lie in one each, and the directory has both. */
TEST(blocks_are_crossed)
{
	uintptr_t frames[MU_STACK_MAX_FRAMES];
	uint64_t *directory = stack_depot_directory();
	uint32_t unit = 0;
	size_t i, end;

	for (i = 0; i < MU_STACK_MAX_FRAMES; i++)
		frames[i] = 0x500000 + i;
	for (i = 0; i < 1500; i++) {
		frames[7] = 0x600000 + i;
		unit = stack_depot_put(frames, MU_STACK_MAX_FRAMES, 0);
		ck_assert_uint_ne(unit, 0);
		end = unit % (1u << MU_DEPOT_BLOCK_SHIFT) +
		    sizeof(struct mu_stack) / MU_DEPOT_UNIT +
		    MU_STACK_MAX_FRAMES * 8 / MU_DEPOT_UNIT;
		ck_assert_uint_le(end, 1u << MU_DEPOT_BLOCK_SHIFT);
		ck_assert_mem_eq(
		    stack_depot_get(unit)->frames, frames, sizeof(frames));
	}
	ck_assert_uint_gt(unit >> MU_DEPOT_BLOCK_SHIFT, 0);
	ck_assert_ptr_eq(stack_depot_get(unit),
	    (char *)(uintptr_t)directory[unit >> MU_DEPOT_BLOCK_SHIFT] +
		unit % (1u << MU_DEPOT_BLOCK_SHIFT) * 16ul);
}

/* Any number is asked for; what comes back is a stack that was put. */
TEST(hostile_units)
{
	uintptr_t frames[16];
	uint32_t unit, first, i, found = 0;
	const struct mu_stack *stack;
	size_t num;

	first = stack_depot_put(frames, make_stack(frames, 0), 0);
	for (i = 0; i < 200; i++)
		stack_depot_put(frames, make_stack(frames, i), 0);
	for (unit = 0; unit < first + 3000; unit++) {
		stack = stack_depot_get(unit);
		if (stack == NULL)
			continue;
		num = stack->num_frames;
		memcpy(frames, stack->frames, num * sizeof(*frames));
		ck_assert_uint_eq(stack_depot_put(frames, num, 0), unit);
		found++;
	}
	ck_assert_uint_eq(found, 200);
	for (unit = 1u << 16; unit != 0; unit <<= 1) {
		ck_assert_ptr_null(stack_depot_get(unit));
		ck_assert_ptr_null(stack_depot_get(unit - 1));
		ck_assert_ptr_null(stack_depot_slot_get(unit));
		stack_depot_slot_free(unit);
	}
	ck_assert_ptr_null(stack_depot_get(UINT32_MAX));
}

TEST(slots_lead_to_stacks)
{
	uintptr_t frames[16];
	uint32_t stack = stack_depot_put(frames, make_stack(frames, 5), 0);
	uint32_t slot = stack_depot_slot(stack, 77), other;

	ck_assert_uint_ge(slot, MU_STACK_FIRST);
	ck_assert_uint_eq(stack_depot_slot_get(slot)->time_ns, 77);
	ck_assert_uint_eq(stack_depot_slot_get(slot)->stack, stack);
	check_stack(slot, 5);
	ck_assert_ptr_null(stack_depot_slot_get(stack));
	/* A slot of a slot is none. */
	other = stack_depot_slot(slot, 78);
	ck_assert_ptr_null(stack_depot_get(other));
	stack_depot_slot_free(slot);
	ck_assert_ptr_null(stack_depot_slot_get(slot));
	ck_assert_ptr_null(stack_depot_get(slot));
	stack_depot_slot_free(slot);
	ck_assert_uint_eq(stack_depot_slot(stack, 79), slot);
	ck_assert_uint_ne(stack_depot_slot(stack, 80), slot);
	/* The ID of a stack that is not kept. */
	ck_assert_ptr_null(stack_depot_get(stack_depot_slot(MU_STACK_OFF, 1)));
}

/* Each holds some, gives back some: none gets a slot that another one holds. */
static void *
play_slots(void *arg)
{
	uint32_t held[SLOTS / THREADS] = { 0 },
			      state = (uint32_t)(uintptr_t)arg;
	uint64_t name = (uint64_t)(uintptr_t)arg << 32;
	unsigned round, i;

	pthread_barrier_wait(&together);
	for (round = 0; round < 400000; round++) {
		state = state * 1664525u + 1013904223u;
		i = (state >> 8) % (SLOTS / THREADS);
		if (held[i] != 0) {
			if (stack_depot_slot_get(held[i])->time_ns !=
			    (name | i))
				return arg;
			stack_depot_slot_free(held[i]);
			held[i] = 0;
		} else {
			held[i] = stack_depot_slot(MU_STACK_EMPTY, name | i);
		}
	}
	for (i = 0; i < SLOTS / THREADS; i++)
		if (held[i] != 0)
			stack_depot_slot_free(held[i]);
	return NULL;
}

TEST(slots_of_threads)
{
	pthread_t threads[THREADS];
	uint32_t unit, highest = 0;
	void *bad;
	unsigned t;

	pthread_barrier_init(&together, NULL, THREADS);
	for (t = 0; t < THREADS; t++)
		pthread_create(
		    &threads[t], NULL, play_slots, (void *)(uintptr_t)(t + 1));
	for (t = 0; t < THREADS; t++) {
		pthread_join(threads[t], &bad);
		ck_assert_ptr_null(bad);
	}
	/* All are free again, and were used again. */
	for (t = 0; t < SLOTS; t++) {
		unit = stack_depot_slot(MU_STACK_EMPTY, 0);
		if (unit > highest)
			highest = unit;
	}
	ck_assert_uint_lt(highest, MU_STACK_FIRST + 3 * (SLOTS + 8));
}

SUITE(.setup = setup);
