/*
 * Threads that cannot be stopped, or not for long: they block every signal, end
 * in the middle of a pass, or wait for a vfork()ed child. With both stop
 * methods the pass is right or names the thread, in time; the program is
 * unharmed and the next pass is right.
 */
#include "tests/support/faults/failing_pass.h"
#include "tests/support/suite.h"

#define SHORT_MS 1500
#define LONG_MS 30000
#define PASSES 40

static struct belongings own;

/* A thread beside the workers: what it does, and until when. */
struct guest {
	pthread_t thread;
	int ready, stop;
	unsigned nap_ms; /* of the vfork()ed child */
	unsigned long count;
	int nr, listener; /* of a call that is refused */
};

static bool
is_stopped(const struct guest *guest)
{
	return __atomic_load_n(&guest->stop, __ATOMIC_ACQUIRE);
}

static void
say_ready(struct guest *guest)
{
	__atomic_store_n(&guest->ready, 1, __ATOMIC_RELEASE);
}

static void
start(struct guest *guest, void *(*body)(void *))
{
	guest->ready = guest->stop = 0;
	ck_assert_int_eq(pthread_create(&guest->thread, NULL, body, guest), 0);
	while (!__atomic_load_n(&guest->ready, __ATOMIC_ACQUIRE))
		mu_sys_sleep_ns(NAP_NS);
}

static void
finish(struct guest *guest)
{
	__atomic_store_n(&guest->stop, 1, __ATOMIC_RELEASE);
	ck_assert_int_eq(pthread_join(guest->thread, NULL), 0);
}

/* libc's own signals too, which pthread_sigmask() leaves alone. */
static void *
block_everything(void *arg)
{
	struct guest *guest = arg;
	mu_sigmask mask;

	mu_sys_block_signals(&mask);
	say_ready(guest);
	while (!is_stopped(guest))
		mu_sys_sleep_ns(NAP_NS);
	mu_sys_restore_signals(&mask);
	return NULL;
}

TEST_LOOP(every_signal_blocked, 0, NUM_STOPS)
{
	struct failing_pass pass = { .call = NULL };
	static struct guest guest;

	belongings_begin(&own);
	start(&guest, block_everything);
	choose_method(_i);
	mu_library.options.timeout = SHORT_MS;
	ck_assert(failing_pass_run(&pass));
	mu_library.options.timeout = LONG_MS;
	finish(&guest);
	unharmed_look(&own.unharmed); /* its stack stays with libc */
	if (_i == 0)
		ck_assert_msg(pass.checked, "%s", pass.info.reason);
	else
		ck_assert_msg(
		    !pass.checked && strstr(pass.info.reason, "thread") != NULL,
		    "status %d, %s", pass.info.status, pass.info.reason);
	printf("status %d, %s\n", pass.info.status, pass.info.reason);
	assert_at_once(&pass);
	belongings_check(&own, &pass);
	belongings_end(&own);
}

/* The calls of the handler in which stopped threads wait. */
static const int handler_calls[] = { SYS_futex, SYS_clock_gettime, SYS_getpid,
	SYS_gettid };

#define NUM_CALLS ((int)(sizeof(handler_calls) / sizeof(handler_calls[0])))

static void *
live_under_filter(void *arg)
{
	struct guest *guest = arg;
	const struct watched_call call = {
		.nr = guest->nr, .argument = -1, .error = ENOSYS
	};

	guest->listener = watched_call_filter(&call, true);
	say_ready(guest);
	while (!is_stopped(guest))
		mu_sys_sleep_ns(NAP_NS);
	return NULL;
}

/* By signal the thread waits without the call, or the answer names it. */
TEST_LOOP(handler_calls_refused, 0, NUM_CALLS)
{
	struct failing_pass pass = { .call = NULL };
	static struct guest guest;

	belongings_begin(&own);
	guest.nr = handler_calls[_i];
	start(&guest, live_under_filter);
	choose_method(1);
	mu_library.options.timeout = SHORT_MS;
	ck_assert(failing_pass_run(&pass));
	mu_library.options.timeout = LONG_MS;
	finish(&guest);
	unharmed_look(&own.unharmed);
	ck_assert_msg(
	    pass.checked || pass.info.status == MEMUNREACHABLE_TIMEOUT,
	    "status %d, %s", pass.info.status, pass.info.reason);
	printf("call %d: status %d, %s\n", guest.nr, pass.info.status,
	    pass.info.reason);
	assert_at_once(&pass);
	belongings_check(&own, &pass);
	belongings_end(&own);
}

static void *
end_at_once(void *arg)
{
	return arg;
}

static void *
come_and_go(void *arg)
{
	struct guest *guest = arg;
	pthread_t threads[4];
	size_t i;

	say_ready(guest);
	while (!is_stopped(guest)) {
		for (i = 0; i < 4; i++)
			pthread_create(&threads[i], NULL, end_at_once, NULL);
		for (i = 0; i < 4; i++)
			pthread_join(threads[i], NULL);
		guest->count += 4;
	}
	return NULL;
}

/* Whatever the moment, the answer is right. */
TEST_LOOP(threads_come_and_go, 0, NUM_STOPS)
{
	static struct guest guest;
	unsigned i, checked = 0;

	belongings_begin(&own);
	start(&guest, come_and_go);
	choose_method(_i);
	for (i = 0; i < PASSES; i++) {
		struct failing_pass pass = { .call = NULL };

		ck_assert(failing_pass_run(&pass));
		checked += pass.checked;
		if (pass.info.status == MEMUNREACHABLE_COMPLETE)
			ck_assert_uint_eq(pass.info.num_leaks, own.num_leaks);
		else
			ck_assert_str_ne(pass.info.reason, "");
	}
	finish(&guest);
	printf("%lu threads, %u of %u passes checked\n", guest.count, checked,
	    PASSES);
	ck_assert_uint_ge(checked, PASSES / 2);
	unharmed_look(&own.unharmed);
	unharmed_check(&own.unharmed);
	belongings_end(&own);
}

/* The child has our memory and must touch little of it. */
static __attribute__((noinline)) pid_t
vfork_a_nap(unsigned nap_ms)
{
	pid_t pid = vfork();

	if (pid == 0) {
		mu_sys_sleep_ns(nap_ms * (uint64_t)1000000);
		_exit(0);
	}
	return pid;
}

static void *
sit_in_vfork(void *arg)
{
	struct guest *guest = arg;
	pid_t pid;

	say_ready(guest);
	pid = vfork_a_nap(guest->nap_ms);
	if (pid > 0 && waitpid(pid, NULL, 0) == pid)
		guest->count++;
	return NULL;
}

static void
pass_beside_vfork(unsigned nap_ms, struct failing_pass *pass)
{
	static struct guest guest;

	memset(&guest, 0, sizeof(guest));
	guest.nap_ms = nap_ms;
	ck_assert_int_eq(
	    pthread_create(&guest.thread, NULL, sit_in_vfork, &guest), 0);
	while (!__atomic_load_n(&guest.ready, __ATOMIC_ACQUIRE))
		mu_sys_sleep_ns(NAP_NS);
	mu_sys_sleep_ns(20 * 1000 * 1000);
	ck_assert(failing_pass_run(pass));
	ck_assert_int_eq(pthread_join(guest.thread, NULL), 0);
	ck_assert_uint_eq(guest.count, 1);
	unharmed_expect_sigchld();
	unharmed_look(&own.unharmed);
	assert_at_once(pass);
}

/* A short nap is waited for; a long one is named. */
TEST_LOOP(waits_for_vfork, 0, NUM_STOPS)
{
	struct failing_pass soon = { .call = NULL }, late = { .call = NULL };

	belongings_begin(&own);
	choose_method(_i);
	pass_beside_vfork(200, &soon);
	ck_assert_msg(soon.checked, "%s", soon.info.reason);
	belongings_check(&own, &soon);
	mu_library.options.timeout = SHORT_MS;
	pass_beside_vfork(4000, &late);
	mu_library.options.timeout = LONG_MS;
	ck_assert_msg(
	    late.info.status == MEMUNREACHABLE_TIMEOUT || late.checked,
	    "status %d, %s", late.info.status, late.info.reason);
	printf("status %d, %s\n", late.info.status, late.info.reason);
	belongings_check(&own, &late);
	belongings_end(&own);
}
