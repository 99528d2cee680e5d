#include "tests/support/stop/signal_stop.h"

struct mu_arena stop_arena;
struct mu_signal_stop signal_stop;
struct mu_snapshot stop_snap;
struct mu_why stop_why;
mu_sigmask stop_mask;
static struct mu_signal_action stop_before[KERNEL_SIGNALS + 1];

int
stop_get(const int *word)
{
	return __atomic_load_n(word, __ATOMIC_SEQ_CST);
}

void
stop_set(int *word, int value)
{
	__atomic_store_n(word, value, __ATOMIC_SEQ_CST);
}

void
stop_await(const int *word, int value)
{
	while (stop_get(word) < value)
		mu_sys_sleep_ns(100000);
}

static void
read_all_dispositions(struct mu_signal_action *all)
{
	int signo;

	memset(all, 0, (KERNEL_SIGNALS + 1) * sizeof(*all));
	for (signo = 1; signo <= KERNEL_SIGNALS; signo++)
		mu_sys_signal_action(signo, NULL, &all[signo]);
}

static void
dispositions_must_be_as_before(void)
{
	struct mu_signal_action now[KERNEL_SIGNALS + 1];
	int i;

	read_all_dispositions(now);
	for (i = 1; i <= KERNEL_SIGNALS; i++)
		ck_assert_msg(
		    memcmp(&now[i], &stop_before[i], sizeof(now[i])) == 0,
		    "signal %d: handler %p flags %#lx, once %p %#lx", i,
		    now[i].handler, now[i].flags, stop_before[i].handler,
		    stop_before[i].flags);
}

enum mu_status
stop_others(uint64_t stop_ns, uint64_t leave_ns)
{
	enum mu_status status = mu_signal_stop_prepare(&signal_stop,
	    mu_sys_getpid(), mu_sys_gettid(), &stop_arena, &stop_why);

	return status == MU_OK
	    ? mu_signal_stop_run(&signal_stop, stop_ns, leave_ns, &stop_why)
	    : status;
}

enum mu_status
stop_for(uint64_t stop_ns, uint64_t leave_ns)
{
	uint64_t now = mu_sys_now_ns();
	enum mu_status status;

	read_all_dispositions(stop_before);
	mu_sys_block_signals(&stop_mask);
	status = stop_others(now + stop_ns, now + leave_ns);
	if (status != MU_OK)
		mu_sys_restore_signals(&stop_mask);
	/* Also after a failure. */
	dispositions_must_be_as_before();
	return status;
}

int
stop_rounds(int rounds)
{
	return getenv("TESTS_PASSES") == NULL ? rounds : rounds / 10;
}

void
must_signal_stop(void)
{
	uint64_t end_ns = mu_sys_now_ns() + 20 * MU_NS_PER_SEC;
	enum mu_status status;

	do
		status = stop_for(PATIENCE_NS, 2 * PATIENCE_NS);
	while (status == MU_ERR_SIGNALS_BLOCKED && mu_sys_now_ns() < end_ns);
	ck_assert_msg(
	    status == MU_OK, "%s: %s", mu_status_name(status), stop_why.text);
	ck_assert(mu_signal_stop_is_full(&signal_stop));
}

void
must_not_signal_stop(enum mu_status expected, uint64_t stop_ns)
{
	enum mu_status status = stop_for(stop_ns, PATIENCE_NS);

	ck_assert_msg(status == expected, "%s: %s", mu_status_name(status),
	    stop_why.text);
	ck_assert(mu_signal_stop_release(&signal_stop));
}

void
release_all(void)
{
	ck_assert(mu_signal_stop_release(&signal_stop));
	ck_assert(mu_signal_stop_release(&signal_stop));
	mu_sys_restore_signals(&stop_mask);
	dispositions_must_be_as_before();
}

void
take_stopped(void)
{
	memset(&stop_snap, 0, sizeof(stop_snap));
	ck_assert_int_eq(mu_snapshot_signal_stop(&stop_snap, &signal_stop, NULL,
			     &stop_arena, &stop_why),
	    MU_OK);
	ck_assert_int_eq(
	    mu_snapshot_mappings(&stop_snap, &stop_arena, &stop_why), MU_OK);
}

struct mu_signal_thread *
stop_thread(pid_t tid)
{
	struct mu_signal_thread_cursor at =
	    mu_signal_thread_first(&signal_stop);
	struct mu_signal_thread *thread;

	while ((thread = mu_signal_thread_next(&at)) != NULL)
		if (thread->tid == tid)
			return thread;
	ck_abort_msg("no thread %d", tid);
	return NULL;
}

pthread_t
stop_spawn(void *(*body)(void *), void *arg)
{
	pthread_attr_t attr;
	pthread_t thread;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 64 << 10);
	if (pthread_create(&thread, &attr, body, arg) != 0)
		abort();
	pthread_attr_destroy(&attr);
	return thread;
}

void *
counter_body(void *arg)
{
	struct counter *counter = arg;

	stop_set(&counter->tid, mu_sys_gettid());
	while (!stop_get(&counter->quit))
		__atomic_add_fetch(&counter->count, 1, __ATOMIC_RELAXED);
	return NULL;
}

unsigned long
counter_value(const struct counter *counter)
{
	return __atomic_load_n(&counter->count, __ATOMIC_SEQ_CST);
}

void
counter_start(struct counter *counter)
{
	memset(counter, 0, sizeof(*counter));
	counter->thread = stop_spawn(counter_body, counter);
	stop_await(&counter->tid, 1);
}

void
counter_must_go_on(const struct counter *counter)
{
	unsigned long from = counter_value(counter);

	while (counter_value(counter) == from)
		sched_yield();
}

void
counter_end(struct counter *counter)
{
	counter_must_go_on(counter);
	stop_set(&counter->quit, 1);
	ck_assert_int_eq(pthread_join(counter->thread, NULL), 0);
}

void
stop_setup(void)
{
	mu_arena_open(&stop_arena, (size_t)1 << 30);
	memset(&signal_stop, 0, sizeof(signal_stop));
	memset(&stop_why, 0, sizeof(stop_why));
}

void
stop_teardown(void)
{
	mu_arena_close(&stop_arena);
}
