#include "lib/malloc_debug/dumps/watch.h"

#include <signal.h>

#include "lib/malloc_debug/dumps/watch_options.h"
#include "lib/malloc_debug/dumps/watch_thread.h"
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
	bool resident; /* some job needs a thread of libc */
	bool any;      /* some job needs a thread at all */
	bool asked;    /* for one that needs a thread */
	int pending;   /* bit N: jobs[N] */
	int ended;     /* no more jobs */
} watch;

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

bool
watch_signal(int signo, void (*job)(void))
{
	return watch_signal_job(signo, job, WATCH_THREAD);
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
	recorder_say("signal %d cannot be had", job->signo);
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

/* Requests to the parent are not the child's. */
void
watch_fork_child(void)
{
	__atomic_store_n(&watch.pending, 0, __ATOMIC_RELEASE);
	if (watch.any)
		watch_thread_fork_child();
}
