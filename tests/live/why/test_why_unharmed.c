/*
 * memunreachable_why_reachable() has no effect on the program: several threads
 * call it at a time, beside passes for leaks and threads that allocate, and the
 * program is unchanged.
 */
#include "memunreachable/memunreachable.h"
#include "tests/support/faults/unharmed.h"
#include "tests/support/hide.h"
#include "tests/support/suite.h"

#define SLOTS 20
#define ROUNDS 15

static void *slots[SLOTS];
static uintptr_t hidden;

static bool
stop_at_ten(void *ctx, const struct MemunreachableReference *reference)
{
	char line[512];

	memunreachable_format_reference(reference, line, sizeof(line));
	ck_assert_msg(
	    reference->kind == MEMUNREACHABLE_REFERENCE_GLOBAL, "%s", line);
	return ++*(size_t *)ctx < 10;
}

/*
 * The address is in no frame. A thread that has just been answered may have it
 * in a vector register yet, while it waits for its turn to ask again.
 */
static __attribute__((noinline)) void
ask_who(bool alone)
{
	size_t calls = 0;
	ptrdiff_t count;

	count = memunreachable_why_reachable(
	    mu_reveal(hidden), stop_at_ten, &calls);
	if (alone)
		ck_assert_int_eq(count, SLOTS);
	ck_assert_int_ge(count, SLOTS);
	ck_assert_uint_eq(calls, 10);
}

static void *
ask_often(void *arg)
{
	struct UnreachableMemoryInfo info;
	int i;

	for (i = 0; i < ROUNDS; i++) {
		if (arg != NULL) {
			ask_who(false);
			continue;
		}
		memset(&info, 0, sizeof(info));
		ck_assert(GetUnreachableMemory(&info, 10));
		FreeUnreachableMemoryInfo(&info);
	}
	return NULL;
}

static __attribute__((noinline)) void
fill_slots(void)
{
	size_t i;

	/* Volatile: otherwise a vector register may still hold it. */
	slots[0] = calloc(1, 72);
	ck_assert_ptr_nonnull(slots[0]);
	for (i = 1; i < SLOTS; i++)
		*(void *volatile *)&slots[i] = slots[0];
	hidden = mu_hide(slots[0]);
}

TEST(program_is_unharmed)
{
	static struct unharmed before;
	pthread_t threads[4];
	size_t i;

	fill_slots();
	scrub_stack();
	unharmed_begin(&before);
	for (i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, ask_often,
		    i == 0 ? NULL : (void *)slots);
	for (i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	/* glibc caches the stacks of ended threads: compare from here on. */
	unharmed_look(&before);
	for (i = 0; i < 10; i++) {
		ask_who(true);
		unharmed_check(&before);
	}
	unharmed_end(&before);
}
