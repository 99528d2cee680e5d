/*
 * Where pointers live: stacks and variables of other threads, signal stacks.
 * And the dead part of a stack. Registers are in test_roots_registers.c, stacks
 * that a program switches by itself in test_roots_coroutines.c, what threads
 * that ended leave behind in test_roots_ended.c.
 */
#include <dlfcn.h>
#include <signal.h>

#include "tests/support/live_stacks.h"
#include "tests/support/suite.h"

static void *global;
static __thread void *tls_slot;

static void
on_stack(struct worker *worker)
{
	void *volatile place = NULL;

	put((void *)&place, worker->hidden);
	scrub();
	worker_park(worker);
	drop((void *)&place);
	worker_park(worker);
}

TEST(blocked_thread)
{
	expect_worker_root(on_stack, NULL);
}

static void
in_static_tls(struct worker *worker)
{
	put(&tls_slot, worker->hidden);
	scrub();
	worker_park(worker);
	drop(&tls_slot);
	worker_park(worker);
}

TEST(static_tls)
{
	expect_worker_root(in_static_tls, NULL);
}

static void
in_dynamic_tls(struct worker *worker)
{
	void *(*shim_tls)(void);
	void *place;

	*(void **)&shim_tls = worker->context;
	place = shim_tls();
	put(place, worker->hidden);
	scrub();
	worker_park(worker);
	drop(place);
	worker_park(worker);
}

/* Stands still first; its variables come into being afterwards. */
static void
in_dynamic_tls_later(struct worker *worker)
{
	worker_park(worker);
	in_dynamic_tls(worker);
}

/*
 * Two threads and the main thread, each with its own block. _i: the threads are
 * older than the library.
 */
TEST_LOOP(dynamic_tls, 0, 2)
{
	static struct worker workers[2];
	uintptr_t block = block_new(72);
	char path[PATH_MAX];
	void *library, *(*shim_tls)(void);
	int i;

	for (i = 0; i < 2; i++) {
		workers[i].body = in_dynamic_tls_later;
		workers[i].hidden = block_new(72);
		if (_i == 1)
			worker_start(&workers[i]);
	}
	support_path("tls_shim.so", path);
	library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	ck_assert_msg(library != NULL, "%s", dlerror());
	*(void **)&shim_tls = dlsym(library, "shim_tls");
	put(shim_tls(), block);
	for (i = 0; i < 2; i++) {
		workers[i].context = *(void **)&shim_tls;
		if (_i == 0)
			worker_start(&workers[i]);
		worker_next(&workers[i]);
	}
	EXPECT_LEAKS(0);
	worker_next(&workers[1]);
	EXPECT_LOST(workers[1].hidden);
	worker_next(&workers[0]);
	EXPECT_LEAKS(2);
	drop(shim_tls());
	EXPECT_LEAKS(3);
	worker_finish(&workers[0]);
	worker_finish(&workers[1]);
	EXPECT_LEAKS(3);
}

static __attribute__((noinline)) void
set_specific(pthread_key_t key, uintptr_t hidden)
{
	ck_assert_int_eq(pthread_setspecific(key, mu_reveal(hidden)), 0);
}

static void
in_specific(struct worker *worker)
{
	pthread_key_t key = *(pthread_key_t *)worker->context;

	set_specific(key, worker->hidden);
	scrub();
	worker_park(worker);
	ck_assert_int_eq(pthread_setspecific(key, NULL), 0);
	worker_park(worker);
}

/* _i: one of the first level, one of the second. */
TEST_LOOP(thread_specific, 0, 6)
{
	static const int before[] = { 3, 4, 31, 32, 33, 100 };
	pthread_key_t key;
	int i;

	for (i = 0; i <= before[_i]; i++)
		ck_assert_int_eq(pthread_key_create(&key, NULL), 0);
	expect_worker_root(in_specific, &key);
}

/* A signal handler that runs on its own stack and stands still there. */
static struct worker *in_signal;

static void
park_in_handler(int signo)
{
	(void)signo;
	worker_park(in_signal);
}

static void
on_normal_stack(struct worker *worker)
{
	stack_t alternate = { .ss_sp = worker->context, .ss_size = 65536 };
	void *volatile place = NULL;

	ck_assert_int_eq(sigaltstack(&alternate, NULL), 0);
	put((void *)&place, worker->hidden);
	scrub();
	raise(SIGUSR1);
	drop((void *)&place);
	scrub();
	raise(SIGUSR1);
}

/* Where handlers put it: above sp on a stack that is not the thread's own. */
static void
park_in_handler_with(int signo)
{
	void *volatile place = NULL;

	(void)signo;
	put((void *)&place, in_signal->hidden);
	scrub_registers();
	worker_park(in_signal);
	drop((void *)&place);
	scrub_registers();
	worker_park(in_signal);
}

static void
on_alternate_stack(struct worker *worker)
{
	stack_t alternate = { .ss_sp = worker->context, .ss_size = 65536 };

	ck_assert_int_eq(sigaltstack(&alternate, NULL), 0);
	raise(SIGUSR1);
}

static void
expect_signal_root(
    void (*body)(struct worker *), void (*handler)(int), void *stack)
{
	struct sigaction action = {
		.sa_handler = handler,
		.sa_flags = SA_ONSTACK,
	};
	static struct worker worker;

	ck_assert_int_eq(sigaction(SIGUSR1, &action, NULL), 0);
	in_signal = &worker;
	worker.body = body;
	worker.context = stack;
	worker.hidden = block_new(72);
	worker_start(&worker);
	EXPECT_LEAKS(0);
	worker_next(&worker);
	EXPECT_LOST(worker.hidden);
	worker_finish(&worker);
}

TEST(normal_stack_while_on_alternate)
{
	expect_signal_root(on_normal_stack, park_in_handler, map_stack());
}

TEST(alternate_stack)
{
	expect_signal_root(
	    on_alternate_stack, park_in_handler_with, map_stack());
}

TEST(alternate_stack_in_a_block)
{
	global = calloc(1, 65536);
	expect_signal_root(on_alternate_stack, park_in_handler_with, global);
}

/* What threads leave behind, deeper than they stand now. */
static __attribute__((noinline)) void
leave_frame(uintptr_t hidden)
{
	void *volatile frame[512];
	size_t i;

	for (i = 0; i < 256; i++)
		put((void *)&frame[i], hidden);
}

static void
leave_below(struct worker *worker)
{
	leave_frame(worker->hidden);
	scrub_registers();
	worker_park(worker);
}

TEST(below_the_stack_pointer)
{
	static struct worker worker = { .body = leave_below };

	worker.hidden = block_new(72);
	worker_start(&worker);
	EXPECT_LOST(worker.hidden);
	worker_finish(&worker);
	EXPECT_LOST(worker.hidden);
}
