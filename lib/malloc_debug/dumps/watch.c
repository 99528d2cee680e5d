#include "lib/malloc_debug/dumps/watch.h"

#include <signal.h>

#include "lib/malloc_debug/checks/unreachable_check.h"
#include "lib/malloc_debug/dumps/allocator_stats.h"
#include "lib/malloc_debug/dumps/heap_dump.h"
#include "lib/malloc_debug/dumps/journal.h"
#include "lib/malloc_debug/dumps/watch_thread.h"
#include "lib/malloc_debug/shadow/stack_id.h"
#include "lib/malloc_debug/state/state.h"
#include "mu/sys.h"

#define MOST_JOBS 16
#define END_NS (10 * MU_NS_PER_SEC)
#define LOOK_NS (MU_NS_PER_SEC / 1000)

struct job {
	int signo;
	enum watch_how how;
	void (*run)(void);
};

static struct {
	struct job jobs[MOST_JOBS];
	size_t count;
	bool resident; /* a job needs a thread of libc */
	bool any;      /* a job needs a thread */
	bool asked;    /* a signal that needs a thread has arrived */
	int pending;   /* bit N: jobs[N] */
	int ended;     /* no more jobs */
} watch;

/*
 * The signals that the options request.
 *
 * The signals of the options: SIGRTMAX-19 to -15, which are 45 to 49 as on
 * Android.
 */

/* Runs in the handler. Only the lowest bit of a bool is ever set. */
static void
toggle(void)
{
	__atomic_fetch_xor(
	    (unsigned char *)&recorder_capturing, 1, __ATOMIC_ACQ_REL);
	stack_id_choose();
}

struct row {
	int from_last; /* SIGRTMAX minus the signal */
	bool wanted;
	void (*job)(void);
	enum watch_how how;
	const char *hint;
};

enum { ROWS = 5 };

/* dladdr() and stdio need libc; everything else is written without it. */
static void
fill(struct row rows[ROWS])
{
	const struct debug_options *options = &recorder_options;
	/* Reports of damaged guards need libc for the names of frames. */
	bool named = options->backtrace_full || options->front_guard != 0 ||
	    options->rear_guard != 0;
	enum watch_how dump = named ? WATCH_THREAD : WATCH_BARE;

	rows[0] = (struct row) { 19, options->backtrace_on_signal, toggle,
		WATCH_AT_ONCE, "to enable backtracing" };
	rows[1] = (struct row) { 17, options->backtrace, heap_dump_on_signal,
		dump, "to dump the backtrace" };
	rows[2] = (struct row) { 18, options->record_allocs != 0, journal_dump,
		WATCH_BARE, "to dump the allocation records" };
	rows[3] = (struct row) { 16, options->check_unreachable_on_signal,
		unreachable_check, WATCH_THREAD,
		"to check for unreachable memory" };
	rows[4] = (struct row) { 15, options->stats_on_signal,
		allocator_stats_log, WATCH_THREAD, "to log allocator stats" };
}

/* Call watch_signal_job() for each job. */
static void
watch_options_jobs(void)
{
	struct row rows[ROWS];
	size_t i;

	fill(rows);
	for (i = 0; i < ROWS; i++)
		if (rows[i].wanted)
			watch_signal_job(SIGRTMAX - rows[i].from_last,
			    rows[i].job, rows[i].how);
}

/* If option verbose is set, print how to send the signals. */
static void
watch_options_hints(void)
{
	struct row rows[ROWS];
	size_t i;

	if (!recorder_options.verbose)
		return;
	fill(rows);
	for (i = 0; i < ROWS; i++)
		if (rows[i].wanted)
			recorder_say("%s: Run: 'kill -%d %d' %s.",
			    recorder_program(), SIGRTMAX - rows[i].from_last,
			    (int)mu_sys_getpid(), rows[i].hint);
}

static struct job *
find(int signo)
{
	size_t i;

	for (i = 0; i < watch.count; i++)
		if (watch.jobs[i].signo == signo)
			return &watch.jobs[i];
	return NULL;
}

bool
watch_signal_job(int signo, void (*job)(void), enum watch_how how)
{
	struct job *place = find(signo);

	if (signo <= 0 || signo > SIGRTMAX ||
	    (place == NULL && watch.count == MOST_JOBS))
		return false;
	if (place == NULL)
		place = &watch.jobs[watch.count++];
	*place = (struct job) { .signo = signo, .how = how, .run = job };
	return true;
}

static void
on_signal(int signo, siginfo_t *info, void *context)
{
	const struct job *job = find(signo);

	(void)info;
	(void)context;
	if (job == NULL || __atomic_load_n(&watch.ended, __ATOMIC_SEQ_CST))
		return;
	if (job->how == WATCH_AT_ONCE) {
		job->run();
		return;
	}
	__atomic_store_n(&watch.asked, true, __ATOMIC_RELAXED);
	__atomic_fetch_or(
	    &watch.pending, 1 << (job - watch.jobs), __ATOMIC_ACQ_REL);
	watch_thread_wake(&watch.pending);
}

/* For the watcher: run the jobs in BITS, in the order of the table. */
static void
run_jobs(int bits)
{
	size_t i;

	for (i = 0; i < watch.count; i++)
		if (bits & 1 << i)
			watch.jobs[i].run();
}

/*
 * SA_ONSTACK: in a thread with a small stack (Go's have 2 KiB) the handler uses
 * the alternate one. False: the signal belongs to libc, or is reserved.
 */
static bool
install(const struct job *job)
{
	struct sigaction action = { .sa_flags =
					SA_RESTART | SA_SIGINFO | SA_ONSTACK };

	action.sa_sigaction = on_signal;
	if (sigaction(job->signo, &action, NULL) == 0)
		return true;
	recorder_say("signal %d cannot be used", job->signo);
	return false;
}

void
watch_start(void)
{
	size_t i;

	watch_options_jobs();
	for (i = 0; i < watch.count; i++) {
		watch.any |= watch.jobs[i].how != WATCH_AT_ONCE;
		watch.resident |= watch.jobs[i].how == WATCH_THREAD;
	}
	if (watch.any)
		watch_thread_start(watch.resident, &watch.pending, run_jobs);
	for (i = 0; i < watch.count; i++)
		install(&watch.jobs[i]);
	watch_options_hints();
}

bool
watch_asked(void)
{
	return __atomic_load_n(&watch.asked, __ATOMIC_RELAXED);
}

void
watch_end(void)
{
	uint64_t deadline = mu_sys_now_ns() + END_NS;

	__atomic_store_n(&watch.ended, 1, __ATOMIC_SEQ_CST);
	while (watch.any && watch_thread_busy()) {
		if (mu_sys_now_ns() >= deadline) {
			recorder_say("the program ends before what a signal"
				     " asked for is done");
			return;
		}
		mu_sys_sleep_ns(LOOK_NS);
	}
}

/* Requests that the parent received are not for the child. */
void
watch_fork_child(void)
{
	__atomic_store_n(&watch.pending, 0, __ATOMIC_RELEASE);
	if (watch.any)
		watch_thread_fork_child();
}
