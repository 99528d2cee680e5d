/*
 * Who points at a block: stacks and thread-local variables, of other threads
 * and of the one that asks.
 */
#include <ucontext.h>

#include "mu/arch/cpu.h"
#include "tests/support/suite.h"
#include "tests/support/why.h"

static __thread void *in_tls;

/* Another thread's stack. */
struct place {
	uintptr_t hidden; /* where the worker has put the pointer */
	int kind;
};

static void
holding_in_a_frame(struct worker *worker)
{
	void *volatile here = NULL;
	struct place *place = worker->context;

	put((void *)&here, worker->hidden);
	place->hidden = mu_hide((void *)&here);
	worker_park(worker);
	drop((void *)&here);
	worker_park(worker);
}

static void
holding_in_tls(struct worker *worker)
{
	struct place *place = worker->context;

	put(&in_tls, worker->hidden);
	place->hidden = mu_hide(&in_tls);
	worker_park(worker);
	drop(&in_tls);
	worker_park(worker);
}

static pthread_key_t key;

LIVE void
set_specific(uintptr_t hidden)
{
	pthread_setspecific(key, hidden == 0 ? NULL : mu_reveal(hidden));
}

static void
holding_specific(struct worker *worker)
{
	set_specific(worker->hidden);
	worker_park(worker);
	set_specific(0);
	worker_park(worker);
}

/* PLACE is of a thread that parks with and without the pointer. */
LIVE void
expect_in_worker(void (*body)(struct worker *), int kind)
{
	static struct worker worker;
	static struct place place;

	place.hidden = 0;
	worker = (struct worker) { .body = body, .context = &place };
	worker.hidden = block_new(72);
	worker_start(&worker);
	EXPECT_TOLD(worker.hidden, 1);
	ck_assert_int_eq(told[0].kind, kind);
	ck_assert_int_eq(told[0].thread, worker.tid);
	if (place.hidden != 0)
		ck_assert_uint_eq(told[0].hidden_address, place.hidden);
	if (kind == MEMUNREACHABLE_REFERENCE_STACK) {
		ck_assert_int_ge(told[0].offset, -128);
		ck_assert_int_lt(told[0].offset, 65536);
	}
	worker_next(&worker);
	EXPECT_TOLD(worker.hidden, 0);
	worker_finish(&worker);
	block_free(worker.hidden);
}

TEST(stack_of_another_thread)
{
	expect_in_worker(holding_in_a_frame, MEMUNREACHABLE_REFERENCE_STACK);
}

TEST(variable_of_another_thread)
{
	expect_in_worker(holding_in_tls, MEMUNREACHABLE_REFERENCE_TLS);
	ck_assert_int_eq(pthread_key_create(&key, NULL), 0);
	expect_in_worker(holding_specific, MEMUNREACHABLE_REFERENCE_TLS);
}

/* Of the main thread: its storage is no part of a stack. */
TEST(variable_of_this_thread)
{
	uintptr_t block = block_new(72);

	put(&in_tls, block);
	EXPECT_ONE(block, MEMUNREACHABLE_REFERENCE_TLS, &in_tls);
	ck_assert_int_eq(told[0].thread, gettid());
	ck_assert_int_eq(
	    told[0].offset, (ptrdiff_t)((uintptr_t)&in_tls - mu_arch_tp()));
	drop(&in_tls);
	ck_assert_int_eq(pthread_key_create(&key, NULL), 0);
	set_specific(block);
	EXPECT_TOLD(block, 1);
	ck_assert_int_eq(told[0].kind, MEMUNREACHABLE_REFERENCE_TLS);
	set_specific(0);
	EXPECT_TOLD(block, 0);
}

/* __thread in a library that came later is in a separate block. */
TEST(variable_of_a_thread_and_a_library)
{
	uintptr_t block = block_new(72);
	void *place = shim("shim_tls");

	put(place, block);
	EXPECT_ONE(block, MEMUNREACHABLE_REFERENCE_BLOCK, place);
	ck_assert_int_eq(told[0].thread, gettid());
	drop(place);
	EXPECT_TOLD(block, 0);
}

/* The caller's own frame, and nothing of the library's. */
LIVE void
expect_in_this_frame(uintptr_t block)
{
	void *volatile here = NULL;

	put((void *)&here, block);
	EXPECT_ONE(block, MEMUNREACHABLE_REFERENCE_CALLER, &here);
	ck_assert_int_eq(told[0].thread, gettid());
	ck_assert_int_ge(told[0].offset, 0);
	ck_assert_int_lt(told[0].offset, 65536);
	drop((void *)&here);
	EXPECT_TOLD(block, 0);
}

TEST(stack_of_the_caller)
{
	uintptr_t block = block_new(72);

	scrub(); /* the frames of block_new() */
	expect_in_this_frame(block);
}

static void *
ask_in_a_thread(void *arg)
{
	expect_in_this_frame(*(uintptr_t *)arg);
	ck_assert(pthread_equal(told_in, pthread_self()));
	return NULL;
}

TEST(stack_of_a_calling_thread)
{
	uintptr_t block = block_new(72);
	pthread_t thread;

	ck_assert_int_eq(
	    pthread_create(&thread, NULL, ask_in_a_thread, &block), 0);
	pthread_join(thread, NULL);
}

/* The caller runs on a block: our frames are in it, too. */
static ucontext_t outside, inside;
static uintptr_t asked_about, stack_block;

static void
ask_on_a_block(void)
{
	void *volatile here = NULL;

	EXPECT_TOLD(asked_about, 0);
	put((void *)&here, asked_about);
	EXPECT_TOLD(asked_about, 1);
	ck_assert_int_eq(told[0].kind, MEMUNREACHABLE_REFERENCE_BLOCK);
	ck_assert_uint_eq(told[0].hidden_address, mu_hide((void *)&here));
	ck_assert_uint_eq(told[0].hidden_begin, stack_block);
	ck_assert(told[0].reachable);
	drop((void *)&here);
	EXPECT_TOLD(asked_about, 0);
}

TEST(stack_in_a_block)
{
	ck_assert_int_eq(getcontext(&inside), 0);
	asked_about = block_new(72);
	stack_block = block_new(98304);
	put(&inside.uc_stack.ss_sp, stack_block);
	inside.uc_stack.ss_size = 98304;
	inside.uc_link = &outside;
	makecontext(&inside, ask_on_a_block, 0);
	scrub_registers();
	ck_assert_int_eq(swapcontext(&outside, &inside), 0);
}
