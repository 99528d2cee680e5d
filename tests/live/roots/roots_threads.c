/*
 * Roots: stacks and variables of other threads, signal stacks; and the dead
 * part of a stack, which is no root. Registers are in roots_registers.c,
 * stacks that a program switches by itself in roots_coroutines.c.
 */
#include <dlfcn.h>

#include "tests/support/built.h"
#include "tests/support/pass/live_stacks.h"
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
	built_path("tests/support/shims/tls_shim.so", path);
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

	in_signal = worker;
	ck_assert_int_eq(sigaltstack(&alternate, NULL), 0);
	put((void *)&place, worker->hidden);
	scrub();
	raise(SIGUSR1);
	drop((void *)&place);
	scrub();
	raise(SIGUSR1);
}

/*
 * On a stack that is not the thread's own, above sp, as signal handlers store
 * it.
 */
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

	in_signal = worker;
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

	ck_assert_int_eq(sigaction(SIGUSR1, &action, NULL), 0);
	expect_worker_root(body, stack);
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

/* Old stack contents of threads, below their stack pointer. */
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

/*
 * Where pointers live, and do not live any more: what threads leave behind
 * that ended.
 */

static int may_end;

static __attribute__((noinline)) void
leave_frames_and_wait(uintptr_t hidden)
{
	void *volatile place = NULL;

	put((void *)&place, hidden);
	leave_frame(hidden);
	while (__atomic_load_n(&may_end, __ATOMIC_SEQ_CST) == 0)
		sched_yield();
}

static void *
end_by_return(void *arg)
{
	leave_frames_and_wait((uintptr_t)arg);
	return NULL;
}

static void *
end_by_exit(void *arg)
{
	leave_frames_and_wait((uintptr_t)arg);
	pthread_exit(NULL);
}

/*
 * glibc keeps the stacks for the next threads. _i: so many other threads,
 * which live on, have their stacks among them.
 */
TEST_LOOP(stack_of_an_ended_thread, 0, 5)
{
	static struct worker workers[4];
	uintptr_t block = block_new(72);
	pthread_t threads[8];
	int i, living = _i;

	for (i = 0; i < 8; i++) {
		pthread_create(&threads[i], NULL,
		    i % 2 == 0 ? end_by_return : end_by_exit, (void *)block);
		if (i >= living)
			continue;
		workers[i].body = in_static_tls;
		workers[i].hidden = block_new(72);
		worker_start(&workers[i]);
	}
	__atomic_store_n(&may_end, 1, __ATOMIC_SEQ_CST);
	for (i = 0; i < 8; i++)
		pthread_join(threads[i], NULL);
	EXPECT_LEAKS(1);
	for (i = 0; i < living; i++)
		worker_next(&workers[i]);
	EXPECT_LEAKS((size_t)living + 1);
	for (i = 0; i < living; i++)
		worker_finish(&workers[i]);
	EXPECT_LEAKS((size_t)living + 1);
}

static pid_t detached_tid;

static void *
end_detached(void *arg)
{
	__atomic_store_n(&detached_tid, gettid(), __ATOMIC_SEQ_CST);
	return end_by_return(arg);
}

TEST(stack_of_a_detached_thread)
{
	uintptr_t block = block_new(72);
	pthread_t thread;

	pthread_create(&thread, NULL, end_detached, (void *)block);
	pthread_detach(thread);
	while (__atomic_load_n(&detached_tid, __ATOMIC_SEQ_CST) == 0)
		sched_yield();
	may_end = 1;
	while (thread_state(detached_tid) != 0)
		sched_yield();
	EXPECT_LOST(block);
}

/*
 * Its thread has it: its own, and while the thread lives struct pthread. Joined
 * or not, once it has ended nothing has.
 */
static int argument_seen;

static void *
drop_argument(void *arg)
{
	(void)arg;
	__atomic_store_n(&detached_tid, gettid(), __ATOMIC_SEQ_CST);
	while (__atomic_load_n(&argument_seen, __ATOMIC_SEQ_CST) == 0)
		sched_yield();
	return NULL;
}

static __attribute__((noinline)) pthread_t
start_with(uintptr_t hidden)
{
	pthread_t thread;

	ck_assert_int_eq(
	    pthread_create(&thread, NULL, drop_argument, mu_reveal(hidden)), 0);
	return thread;
}

TEST_LOOP(argument_of_a_thread, 0, 2)
{
	uintptr_t block = block_new(72);
	pthread_t thread = start_with(block);

	EXPECT_LEAKS(0);
	if (_i == 1)
		pthread_detach(thread);
	while (__atomic_load_n(&detached_tid, __ATOMIC_SEQ_CST) == 0)
		sched_yield();
	__atomic_store_n(&argument_seen, 1, __ATOMIC_SEQ_CST);
	while (thread_state(detached_tid) != 0)
		sched_yield();
	EXPECT_LOST(block);
	if (_i == 0)
		ck_assert_int_eq(pthread_join(thread, NULL), 0);
	EXPECT_LOST(block);
}

static pid_t result_tid;

static void *
end_with_result(void *arg)
{
	__atomic_store_n(&result_tid, gettid(), __ATOMIC_SEQ_CST);
	return mu_reveal((uintptr_t)arg);
}

static __attribute__((noinline)) uintptr_t
join(pthread_t thread)
{
	void *result = NULL;

	ck_assert_int_eq(pthread_join(thread, &result), 0);
	return mu_hide(result);
}

/* Held until it is joined; then only the joining thread has it. */
TEST(result_of_an_ended_thread)
{
	uintptr_t block = block_new(72);
	pthread_t thread;

	ck_assert_int_eq(
	    pthread_create(&thread, NULL, end_with_result, (void *)block), 0);
	while (__atomic_load_n(&result_tid, __ATOMIC_SEQ_CST) == 0 ||
	    thread_state(result_tid) != 0)
		sched_yield();
	EXPECT_LEAKS(0);
	ck_assert_uint_eq(join(thread), block);
	EXPECT_LOST(block);
}

/* What the new thread is given. */
struct framed {
	uintptr_t hidden;
	void *place;
};

/* Exit status: how often the block is reported. */
static void *
ask_for_framed(void *arg)
{
	const uintptr_t hidden = ((struct framed *)arg)->hidden;
	struct UnreachableMemoryInfo info = { 0 };
	int found = 0;
	size_t i;

	if (((struct framed *)arg)->place == NULL)
		arg = NULL;
	while (thread_state(getpid()) != 'Z')
		sched_yield();
	scrub();
	GetUnreachableMemory(&info, 10000);
	for (i = 0; i < info.num_reported; i++)
		found += mu_hide((void *)info.leaks[i].begin) == hidden;
	if (info.status != MEMUNREACHABLE_COMPLETE)
		found = 1 + (int)info.status;
	__asm__ volatile("" : : "r"(arg) : "memory");
	_exit(found);
}

/*
 * The leader ends, another thread asks: a zombie is no thread. A frame of
 * main() has the only pointer. _i: another thread was given a variable of it.
 */
static void
leave_main_frame(int i)
{
	struct framed framed = { block_new(72), NULL };
	static struct framed copy;
	pthread_t thread;

	put(&framed.place, framed.hidden);
	copy.hidden = framed.hidden;
	pthread_create(&thread, NULL, ask_for_framed, i == 0 ? &copy : &framed);
	pthread_exit(NULL);
}

TEST_LOOP(frames_of_an_ended_main_thread, 0, 2)
{
	int status;
	pid_t pid = fork();

	if (pid == 0)
		leave_main_frame(_i);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert(WIFEXITED(status));
	ck_assert_int_eq(WEXITSTATUS(status), _i == 0);
}
