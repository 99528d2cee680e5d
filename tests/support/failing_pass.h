/*
 * A pass in a separate thread that a watched call makes fail, in a program that
 * continues: its answer, and that nothing is left of it.
 */
#ifndef TESTS_SUPPORT_FAILING_PASS_H
#define TESTS_SUPPORT_FAILING_PASS_H

#include <check.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/state/library.h"
#include "memunreachable/memunreachable.h"
#include "tests/support/faults.h"
#include "tests/support/hide.h"
#include "tests/support/unharmed.h"
#include "tests/support/watched_call.h"

/* A place that nothing in check has pointed to before. */
/* Less than the least alternate stack: of more, each thread is asked. */
#define LOST_SIZE 1700
#define NS_PER_SEC 1000000000ull

struct failing_pass {
	/* Neither: an undisturbed pass. */
	const struct watched_call *call;
	const struct fault *fault;
	struct fault_record *record; /* of FAULT */
	bool no_ptrace;              /* besides: refused by a filter */
	const struct rlimit *files;  /* besides: RLIMIT_FSIZE, as long as the
					pass takes: check writes files too */
	bool by_filter;              /* deny without a supervisor */
	int listener, installed, go;
	bool acted; /* the call was met */
	bool judged;
	bool changed; /* the thread's own errno, signal mask or stack */
	struct UnreachableMemoryInfo info; /* leaks freed */
};

static inline void
fault_switch(const struct failing_pass *failing, int on)
{
	if (failing->record != NULL)
		__atomic_store_n(
		    &failing->record->in_pass, on, __ATOMIC_RELEASE);
}

/* No malloc here: an arena for this thread would be a new mapping. */
static inline void *
failing_body(void *arg)
{
	static const struct watched_call no_ptrace = {
		.nr = SYS_ptrace, .argument = -1, .error = EPERM
	};
	struct failing_pass *failing = arg;
	struct thread_state state;
	struct rlimit files;
	sigset_t all;

	/* A handler in this thread would make calls under the filter. */
	sigfillset(&all);
	sigdelset(&all, SIGTERM);
	sigdelset(&all, SIGXFSZ); /* a log that kills shall kill */
	sigdelset(&all, SIGPIPE);
	pthread_sigmask(SIG_SETMASK, &all, NULL);
	if (failing->call != NULL)
		failing->listener =
		    watched_call_filter(failing->call, failing->by_filter);
	if (failing->no_ptrace)
		watched_call_filter(&no_ptrace, true);
	if (failing->fault != NULL) {
		fault_record_clear(failing->record);
		failing->record->original = (pid_t)syscall(SYS_gettid);
		failing->listener = fault_filter(failing->fault);
	}
	__atomic_store_n(&failing->installed, 1, __ATOMIC_RELEASE);
	while (!__atomic_load_n(&failing->go, __ATOMIC_ACQUIRE))
		sched_yield();
	if (failing->files != NULL) {
		getrlimit(RLIMIT_FSIZE, &files);
		setrlimit(RLIMIT_FSIZE, failing->files);
	}
	errno = 4712;
	thread_state_look(&state);
	fault_switch(failing, 1);
	failing->judged = GetUnreachableMemory(&failing->info, 10);
	fault_switch(failing, 0);
	failing->changed = !thread_state_same(&state);
	if (failing->files != NULL)
		setrlimit(RLIMIT_FSIZE, &files);
	mu_results_free(&mu_library.results, failing->info.leaks);
	failing->info.leaks = NULL;
	return NULL;
}

static inline pid_t
start_supervisor(struct failing_pass *failing)
{
	pid_t pid;

	if ((failing->call == NULL && failing->fault == NULL) ||
	    failing->by_filter)
		return 0;
	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid == 0 && failing->fault != NULL)
		fault_supervise(
		    failing->listener, failing->fault, failing->record);
	if (pid == 0)
		supervise(failing->listener, failing->call);
	close(failing->listener);
	return pid;
}

/* False: the kernel has no such filters. */
static inline bool
failing_pass_run(struct failing_pass *failing)
{
	pthread_t thread;
	pid_t supervisor = 0;
	int status;

	ck_assert_int_eq(
	    pthread_create(&thread, NULL, failing_body, failing), 0);
	while (!__atomic_load_n(&failing->installed, __ATOMIC_ACQUIRE))
		sched_yield();
	if (failing->listener >= 0)
		supervisor = start_supervisor(failing);
	__atomic_store_n(&failing->go, 1, __ATOMIC_RELEASE);
	pthread_join(thread, NULL);
	failing->acted = failing->by_filter;
	if (supervisor > 0) {
		ck_assert_int_eq(waitpid(supervisor, &status, 0), supervisor);
		failing->acted = WIFEXITED(status) && WEXITSTATUS(status) == 0;
		if (failing->fault != NULL)
			failing->acted = failing->record->acts > 0;
		unharmed_expect_sigchld();
	}
	return failing->listener >= 0;
}

/* "At once" is far below the deadline of 30 s, also on a busy machine. */
static inline void
assert_at_once(const struct failing_pass *failing)
{
	ck_assert_uint_lt(failing->info.total_ns, 15 * NS_PER_SEC);
}

/* What a program has to lose, and to keep. */
struct belongings {
	struct unharmed unharmed;
	size_t num_leaks;
};

static __attribute__((noinline)) void
lose_and_keep(void)
{
	int epoll = epoll_create1(EPOLL_CLOEXEC), ends[2];
	struct epoll_event event = { .events = EPOLLIN };

	ck_assert(epoll >= 0 && pipe(ends) == 0);
	mu_hide(memset(malloc(LOST_SIZE), 'x', LOST_SIZE));
	/* Only the kernel knows this one: a failure must not lose it. */
	event.data.ptr = malloc(LOST_SIZE);
	epoll_ctl(epoll, EPOLL_CTL_ADD, ends[0], &event);
}

static inline void
belongings_begin(struct belongings *own)
{
	struct failing_pass first = { .call = NULL };

	lose_and_keep();
	scrub_stack();
	unharmed_begin(&own->unharmed);
	ck_assert(failing_pass_run(&first));
	/* Its thread's stack stays with libc and is used again. */
	unharmed_look(&own->unharmed);
	ck_assert_msg(first.judged, "%s", first.info.reason);
	ck_assert_msg(first.info.status == MEMUNREACHABLE_COMPLETE, "%s",
	    first.info.reason);
	ck_assert_uint_ge(first.info.num_leaks, 1);
	own->num_leaks = first.info.num_leaks;
	unharmed_check(&own->unharmed);
}

/* After a pass, whatever became of it: all is well, and the next one works. */
static inline void
belongings_check(struct belongings *own, const struct failing_pass *failing)
{
	struct failing_pass next = { .call = NULL };
	const struct UnreachableMemoryInfo *info = &failing->info;

	unharmed_check(&own->unharmed);
	ck_assert_msg(!failing->changed,
	    "the asking thread's errno, signal mask or stack has changed");
	if (!failing->judged) {
		ck_assert_int_gt(info->status, MEMUNREACHABLE_PARTIAL);
		ck_assert_str_ne(info->reason, "");
		ck_assert_uint_eq(info->num_leaks, 0);
		ck_assert_uint_eq(info->num_allocations, 0);
	} else if (info->status == MEMUNREACHABLE_COMPLETE)
		ck_assert_uint_eq(info->num_leaks, own->num_leaks);
	else
		ck_assert_uint_le(info->num_leaks, own->num_leaks);
	ck_assert(failing_pass_run(&next));
	ck_assert_msg(next.judged, "%s", next.info.reason);
	ck_assert_msg(next.info.status == MEMUNREACHABLE_COMPLETE, "%s",
	    next.info.reason);
	ck_assert_uint_eq(next.info.num_leaks, own->num_leaks);
	unharmed_check(&own->unharmed);
}

static inline void
belongings_end(struct belongings *own)
{
	unharmed_end(&own->unharmed);
}

#endif
