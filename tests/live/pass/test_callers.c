/*
 * Calls at awkward moments: from several threads at once, from a root provider
 * during a pass, from the handler of a signal that interrupted malloc, and in
 * the child of a fork() that another thread made during a pass.
 */
#include <sys/syscall.h>

#include "lib/state/library.h"
#include "memunreachable/memunreachable.h"
#include "tests/support/faults/unharmed.h"
#include "tests/support/hide.h"
#include "tests/support/suite.h"

#define CALLERS 6
#define PASSES 5

static pthread_barrier_t barrier;
static int failures;

static bool
pass_is_right(size_t expected)
{
	struct UnreachableMemoryInfo info = { 0 };
	bool right = GetUnreachableMemory(&info, 10) &&
	    info.status == MEMUNREACHABLE_COMPLETE &&
	    info.num_leaks == expected;

	if (!right)
		fprintf(stderr, "status %d, %s; %zu leaks\n", info.status,
		    info.reason, info.num_leaks);
	FreeUnreachableMemoryInfo(&info);
	return right;
}

static size_t
count_leaks(void)
{
	struct UnreachableMemoryInfo info = { 0 };
	size_t count;

	ck_assert_msg(GetUnreachableMemory(&info, 10), "%s", info.reason);
	count = info.num_leaks;
	FreeUnreachableMemoryInfo(&info);
	return count;
}

/*
 * Big enough for a place that nothing in check has pointed to before, and too
 * small for an alternate signal stack: under a seccomp filter the threads that
 * wait cannot be asked for theirs. The block that is kept lies behind it: else
 * malloc's address of the next chunk, in a dead frame of pthread_create() or
 * fork(), is that of the last word of the lost one.
 */
static __attribute__((noinline)) void
lose(size_t size)
{
	static void *volatile kept;

	mu_hide(memset(malloc(size), 'x', size));
	kept = malloc(size);
	ck_assert_ptr_nonnull(kept);
}

static void *
caller_body(void *arg)
{
	const size_t *expected = arg;
	int i;

	pthread_barrier_wait(&barrier);
	for (i = 0; i < PASSES; i++)
		if (!pass_is_right(*expected))
			__atomic_add_fetch(&failures, 1, __ATOMIC_RELAXED);
	return NULL;
}

TEST(concurrent)
{
	static struct unharmed before;
	pthread_t threads[CALLERS];
	static size_t expected;
	int i;

	lose(2000);
	scrub_stack();
	expected = count_leaks();
	ck_assert_uint_ge(expected, 1);
	unharmed_begin(&before);
	pthread_barrier_init(&barrier, NULL, CALLERS);
	for (i = 0; i < CALLERS; i++)
		pthread_create(&threads[i], NULL, caller_body, &expected);
	for (i = 0; i < CALLERS; i++)
		pthread_join(threads[i], NULL);
	ck_assert_int_eq(failures, 0);
	ck_assert(pass_is_right(expected));
	unharmed_end(&before);
	ck_assert_int_eq(waitpid(-1, NULL, __WALL | WNOHANG), -1);
}

struct reentry {
	struct UnreachableMemoryInfo info;
	bool checked;
	unsigned calls;
};

static ptrdiff_t
ask_again(void *ctx, uintptr_t *words, size_t max)
{
	struct reentry *reentry = ctx;

	(void)words;
	(void)max;
	reentry->calls++;
	reentry->checked = GetUnreachableMemory(&reentry->info, 10);
	return 0;
}

TEST(reentrant)
{
	struct UnreachableMemoryInfo info = { 0 };
	static struct reentry reentry;
	struct unharmed before;

	unharmed_begin(&before);
	ck_assert(memunreachable_register_root_provider(ask_again, &reentry));
	ck_assert(GetUnreachableMemory(&info, 10));
	ck_assert(memunreachable_unregister_root_provider(ask_again, &reentry));
	ck_assert_int_eq(info.status, MEMUNREACHABLE_COMPLETE);
	ck_assert_uint_eq(reentry.calls, 1);
	ck_assert(!reentry.checked);
	ck_assert_int_eq(reentry.info.status, MEMUNREACHABLE_BUSY);
	ck_assert_str_ne(reentry.info.reason, "");
	/* The inner call has not let go of the outer one's lock. */
	ck_assert(GetUnreachableMemory(&info, 10));
	unharmed_end(&before);
}

static volatile sig_atomic_t handled, busy, checked;

static void
on_timer(int signo)
{
	struct UnreachableMemoryInfo info = { 0 };

	(void)signo;
	if (GetUnreachableMemory(&info, 1))
		checked++;
	else if (info.status == MEMUNREACHABLE_BUSY)
		busy++;
	FreeUnreachableMemoryInfo(&info);
	handled++;
}

/* SIGALRM for the calling thread alone, every 3 ms that it computes. */
static timer_t
start_timer(void)
{
	struct sigaction action = { .sa_handler = on_timer,
		.sa_flags = SA_RESTART };
	struct sigevent event = { .sigev_notify = SIGEV_THREAD_ID,
		.sigev_signo = SIGALRM };
	struct itimerspec every = { { 0, 3000000 }, { 0, 3000000 } };
	timer_t timer;

	event._sigev_un._tid = (int)syscall(SYS_gettid);
	sigaction(SIGALRM, &action, NULL);
	ck_assert_int_eq(
	    timer_create(CLOCK_THREAD_CPUTIME_ID, &event, &timer), 0);
	ck_assert_int_eq(timer_settime(timer, 0, &every, NULL), 0);
	return timer;
}

/* Allocate until the handler ran TRIES times, and was refused once if MUST. */
static void
allocate_under_fire(int tries, bool must)
{
	timer_t timer = start_timer();
	unsigned round = 0;
	char *p, *q;

	while (handled < tries || (must && busy == 0)) {
		p = malloc(1500 + round % 2000);
		q = malloc(3000);
		ck_assert(p != NULL && q != NULL);
		memset(p, 1, 1500);
		free(p);
		free(q);
		round++;
	}
	timer_delete(timer);
}

/*
 * A handler that interrupted malloc gets an answer or a refusal, never a hang:
 * the mutex that its own thread holds cannot be had before the deadline.
 */
TEST(within_malloc)
{
	static struct unharmed before;

	mu_library.options.timeout = 50;
	unharmed_begin(&before);
	allocate_under_fire(30, true);
	unharmed_end(&before);
	printf("%d calls from handlers: %d checked, %d busy\n", (int)handled,
	    (int)checked, (int)busy);
	mu_library.options.timeout = 30000;
	ck_assert_uint_eq(count_leaks(), count_leaks());
}

/*
 * With one thread malloc takes no lock, so the heap may be read in the middle
 * of a change.
 */
TEST(within_malloc_single_threaded)
{
	mu_library.options.timeout = 200;
	allocate_under_fire(30, false);
	mu_library.options.timeout = 30000;
	ck_assert_uint_eq(count_leaks(), count_leaks());
}

static bool asking_stops;

static void *
ask_all_the_time(void *arg)
{
	const size_t *expected = arg;

	while (!__atomic_load_n(&asking_stops, __ATOMIC_ACQUIRE))
		if (!pass_is_right(*expected))
			__atomic_add_fetch(&failures, 1, __ATOMIC_RELAXED);
	return NULL;
}

/* The child inherits a pass lock whose owner does not exist there. */
TEST(fork_in_a_pass)
{
	static size_t expected;
	pthread_t thread;
	int status, i;
	pid_t pid;

	lose(1500);
	scrub_stack();
	expected = count_leaks();
	pthread_create(&thread, NULL, ask_all_the_time, &expected);
	for (i = 0; i < 60; i++) {
		pid = fork();
		ck_assert_int_ge(pid, 0);
		if (pid == 0) {
			alarm(40); /* our parent waits for us */
			_exit(pass_is_right(expected) ? 0 : 1);
		}
		ck_assert_int_eq(waitpid(pid, &status, 0), pid);
		ck_assert_int_eq(status, 0);
	}
	__atomic_store_n(&asking_stops, true, __ATOMIC_RELEASE);
	pthread_join(thread, NULL);
	ck_assert_int_eq(failures, 0);
}
