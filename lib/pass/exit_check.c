#include "lib/pass/exit_check.h"

#include <fnmatch.h>
#include <limits.h>
#include <stdlib.h>

#include "lib/pass/forked_end.h"
#include "lib/pass/pass.h"
#include "lib/state/answer_file.h"
#include "lib/state/libc_own.h"
#include "lib/state/library.h"
#include "lib/state/log_sink.h"
#include "mu/sys.h"
#include "ptrace/live/task_list.h"
#include "ptrace/live/tracer_stop.h"

/* For the answer, besides the stack that a pass has. */
#define STACK_SIZE (((size_t)64 << 10) + MU_STACK_GUARD)

bool
mu_exit_check_concerns(const struct mu_options *options)
{
	const char *name = program_invocation_short_name;

	if (options->only_program[0] != '\0' && name != NULL &&
	    fnmatch(options->only_program, name, 0) != 0)
		return false;
	return options->only_pid == 0 ||
	    options->only_pid == (size_t)mu_sys_getpid();
}

bool
mu_exit_check_answers(const struct mu_options *options)
{
	return options->at_exit && options->answer_path[0] != '\0';
}

/* The exit status that INFO requires; 0: none. */
static int
wanted_status(
    const struct mu_options *options, const struct UnreachableMemoryInfo *info)
{
	bool ok = options->unchecked == MU_UNCHECKED_OK;

	/* A report that could not be written does not count. */
	if (__atomic_load_n(&mu_library.log_error, __ATOMIC_RELAXED) != 0 &&
	    info->num_leaks == 0)
		return ok ? 0 : MU_UNCHECKED_STATUS;
	switch (info->status) {
	case MEMUNREACHABLE_COMPLETE:
		return info->num_leaks > 0 ? options->exitcode : 0;
	case MEMUNREACHABLE_PARTIAL:
		if (ok)
			return info->num_leaks > 0 ? options->exitcode : 0;
		return MU_PARTIAL_STATUS;
	default:
		return ok ? 0 : MU_UNCHECKED_STATUS;
	}
}

/*
 * Tells the command, which cannot trace this process, that the check was made.
 */
static void
log_outcome(
    const struct mu_options *options, const struct UnreachableMemoryInfo *info)
{
	struct {
		struct mu_log_record head;
		struct mu_log_outcome outcome;
	} record = {
		.head = { .kind = MU_LOG_RECORD_OUTCOME,
		    .size = sizeof(record.outcome) },
		.outcome = { .status = info->status },
	};
	struct mu_log log;

	mu_log_sink_open(&log, options, false);
	if (log.records)
		mu_log_record(&log, MU_LOG_ERROR, &record.head, NULL, 0);
	mu_log_sink_close(&log);
}

/*
 * Write what a pass finds to a file for the command that asked. If this fails
 * the command checks the process itself.
 */
static void
answer(const struct mu_caller *caller, bool brief, bool hold)
{
	struct mu_entries entries = { .count = 0 };
	struct mu_pipe_usage usage = { .glibc_major = 0 };
	size_t cure = 0, by = mu_library.options.answer_groups;
	struct mu_groups_info groups = {
		.by = by <= MU_BY_MODULE ? (enum mu_by)by : MU_BY_BLOCK,
	};
	struct mu_request request = {
		.caller = caller,
		.limit = mu_library.options.max_leaks,
		.log_policy = MU_LOG_POLICY_QUIET,
		.contents = true,
		.at_end = true,
		.brief = brief,
		.hold = hold,
		.usage = &usage,
		.groups = &groups,
		.entries = &entries,
		.cure = &cure,
	};
	struct UnreachableMemoryInfo info = { 0 };

	mu_pass_run(&request, &info);
	mu_answer_file_write(mu_library.options.answer_path, &info, cure,
	    &entries, &usage, &groups);
	mu_results_drop(&mu_library.results, &entries);
}

/* Write a report to the log. Returns true if there are leaks. */
static bool
report(const struct mu_caller *caller)
{
	const struct mu_options *options = &mu_library.options;
	struct mu_request request = {
		.caller = caller,
		.limit = options->max_leaks,
		.log_policy = MU_LOG_POLICY_FULL,
		.contents = options->log_contents,
	};
	struct UnreachableMemoryInfo info = { 0 };
	bool leaks;

	__atomic_store_n(&mu_library.log_error, 0, __ATOMIC_RELAXED);
	leaks = mu_pass_run(&request, &info) && info.num_leaks > 0;
	mu_library.exit_status = wanted_status(options, &info);
	log_outcome(options, &info);
	return leaks;
}

/* The thread that checks at the end; 0: the calling one does it from now on. */
static int
take_turn(void)
{
	int other = 0;

	__atomic_compare_exchange_n(&mu_library.exit_thread, &other,
	    mu_sys_gettid(), false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
	return other;
}

/* Threads that wait in _exit() may end the program now. */
static void
end_turn(void)
{
	__atomic_store_n(&mu_library.exit_checked, 1, __ATOMIC_RELEASE);
	mu_sys_futex_wake(
	    &mu_library.exit_checked, INT_MAX, FUTEX_PRIVATE_FLAG);
}

/* Wait for the check of thread OTHER, unless this is a signal handler in it. */
static void
await_other(int other)
{
	uint64_t deadline_ns =
	    mu_sys_now_ns() + mu_library.options.timeout * MU_NS_PER_MS;
	int *checked = &mu_library.exit_checked;

	while (other != mu_sys_gettid() &&
	    __atomic_load_n(checked, __ATOMIC_ACQUIRE) == 0 &&
	    mu_sys_now_ns() < deadline_ns)
		mu_sys_futex_wait(checked, 0, FUTEX_PRIVATE_FLAG, deadline_ns);
}

/* In a child of fork() OTHER may be a thread of the parent. */
static bool
is_another(int other)
{
	return other != 0 && other != mu_sys_gettid() &&
	    mu_sys_getpid() == mu_library.pid;
}

void
mu_exit_check_foresee(void)
{
	if (!mu_exit_check_answers(&mu_library.options) &&
	    mu_exit_check_concerns(&mu_library.options))
		mu_log_sink_line(MU_LOG_ERROR,
		    "this process will not be checked at its end%s: a seccomp"
		    " filter is added that may kill for what a check calls;"
		    " memunreachable -- COMMAND checks it from outside",
		    mu_library.filters.all ? "" : " if this thread ends it");
}

/*
 * A filter may kill even for gettid(). The command that waits for an answer
 * checks the process itself.
 */
static bool
is_kept_from(const struct mu_options *options)
{
	if (mu_exit_check_answers(options))
		return !mu_filters_permit(&mu_library.filters, false);
	if (!mu_filters_may_kill(&mu_library.filters))
		return false;
	if (options->unchecked != MU_UNCHECKED_OK)
		mu_library.exit_status = MU_UNCHECKED_STATUS;
	return true;
}

/*
 * A second exit() in an exit handler runs the remaining handlers, flushes stdio
 * and ends with the new status (glibc removes each handler before calling it);
 * _exit() would lose the program's output.
 */
void
mu_exit_check_at_exit(void)
{
	const struct mu_options *options = &mu_library.options;
	struct mu_caller caller;
	bool leaks = false;
	int other;

	if (is_kept_from(options)) {
		__atomic_store_n(&mu_library.exit_checked, 1, __ATOMIC_RELEASE);
		return;
	}
	mu_forked_end_ask();
	if (!mu_exit_check_concerns(options))
		return;
	other = take_turn();
	if (is_another(other)) {
		await_other(other);
		return;
	}
	mu_caller_capture(&caller);
	mu_exit_stack_begin(&mu_library.exit_stack, &caller);
	if (mu_exit_check_answers(options))
		answer(&caller, false, false);
	else
		leaks = report(&caller);
	end_turn();
	if (leaks)
		exit(mu_library.exit_status);
}

/*
 * Before glibc 2.41 threads that call exit() at once, or quick_exit(), share
 * the handlers: one that finds none left ends the program, in the middle of the
 * check too. So each waits in a handler, after it has left one to the next by
 * AGAIN, which returns 0. The thread that has removed the handler which checks
 * may not have begun it: then this one calls CHECK, which checks or waits.
 */
static void
await_check(int (*again)(void), void (*check)(void))
{
	int other = __atomic_load_n(&mu_library.exit_thread, __ATOMIC_ACQUIRE);

	if (__atomic_load_n(&mu_library.exit_checked, __ATOMIC_ACQUIRE) != 0 ||
	    (other != 0 && !is_another(other)) || again() != 0)
		return;
	if (other != 0)
		await_other(other);
	else
		check();
}

static int
status_again(void)
{
	return on_exit(mu_exit_check_status, NULL);
}

/*
 * Handlers of a library are called by _dl_fini(), which does not know the
 * program's exit status; those of on_exit() get it.
 */
void
mu_exit_check_status(int status, void *unused)
{
	(void)unused;
	if (__atomic_load_n(&mu_library.exit_checked, __ATOMIC_ACQUIRE) == 0 &&
	    mu_exit_check_concerns(&mu_library.options))
		await_check(status_again, mu_exit_check_at_exit);
	if ((status & 0xff) == 0 && mu_library.exit_status != 0)
		exit(mu_library.exit_status);
}

/*
 * A call of the program's own code could wait for a lock of a thread, or of
 * this one if it is in a signal handler.
 */
static bool
has_callbacks(const struct mu_registry *registry)
{
	return registry->num_providers > 0 || registry->num_heaps > 0;
}

/*
 * True if the command stops the other threads for a check, and there are some.
 * The PID of a child of vfork(), which has the memory of its parent, differs.
 * A program that permits itself few calls mostly ends by _exit(), if LAST.
 */
static bool
is_wanted(bool last)
{
	const struct mu_options *options = &mu_library.options;
	bool single = &__libc_single_threaded != NULL &&
	    __atomic_load_n(&__libc_single_threaded, __ATOMIC_RELAXED) != 0;

	return mu_exit_check_answers(options) && !single &&
	    !mu_filters_may_kill(&mu_library.filters) &&
	    mu_sys_getpid() == mu_library.pid &&
	    mu_exit_check_concerns(options) &&
	    mu_filters_permit(&mu_library.filters, last) &&
	    mu_task_count(mu_library.pid) > 1 &&
	    mu_is_traced_by((pid_t)options->tracer) &&
	    !has_callbacks(&mu_library.registry);
}

struct call {
	const struct mu_caller *caller;
	bool last;
};

static void
check(void *arg)
{
	const struct call *call = arg;
	int other = take_turn();

	if (other != 0) {
		await_other(other);
		return;
	}
	answer(call->caller, true, call->last);
	end_turn();
}

/*
 * A signal handler could jump out of the check, and the program would go on.
 * The calling thread may be on a small signal stack.
 */
void
mu_exit_check_calls(const struct mu_caller *caller, bool last)
{
	struct call call = { caller, last };
	mu_sigmask mask;
	long stack;

	mu_forked_end_ask();
	if (!is_wanted(last) || !mu_sys_block_signals(&mask))
		return;
	stack = mu_sys_map_stack(STACK_SIZE);
	if (!mu_sys_failed(stack)) {
		mu_arch_call_on((char *)stack + STACK_SIZE, check, &call);
		mu_sys_munmap((void *)stack, STACK_SIZE);
	}
	if (!last)
		mu_sys_restore_signals(&mask);
}

void
mu_exit_check_at_quick_exit(void)
{
	struct mu_caller caller;

	mu_caller_capture(&caller);
	mu_exit_check_calls(&caller, false);
}

static int
waits_again(void)
{
	return at_quick_exit(mu_exit_check_quick_exit_waits);
}

/* Another try would fail as this one does. */
static void
check_at_quick_exit(void)
{
	mu_exit_check_at_quick_exit();
	end_turn();
}

void
mu_exit_check_quick_exit_waits(void)
{
	if (is_wanted(false))
		await_check(waits_again, check_at_quick_exit);
}
