#include "ptrace/remote/alternate_stacks.h"

#include <signal.h>
#include <string.h>

#include "mu/sys.h"
#include "ptrace/live/registers.h"
#include "ptrace/remote/remote_call.h"

_Static_assert(sizeof(stack_t) <= MU_REMOTE_ANSWER, "room for it");

static bool
ask(struct mu_threads *threads, struct mu_tracee *tracee, uint64_t end_ns,
    stack_t *stack)
{
	struct mu_remote_call call = {
		.nr = SYS_sigaltstack,
		.answer = stack,
		.answer_bytes = sizeof(*stack),
	};
	struct mu_remote_thread thread;

	if (tracee->state != MU_TRACEE_STOPPED || mu_sys_now_ns() >= end_ns ||
	    mu_remote_thread_check(&thread, threads, tracee, NULL) != MU_OK)
		return false;
	call.args[1] = mu_remote_return_answer(&thread);
	return mu_remote_call_make(&call, &thread, end_ns, NULL) == MU_OK &&
	    call.result == 0;
}

static size_t
count_stopped(const struct mu_threads *threads)
{
	size_t i, count = 0;

	for (i = 0; i < threads->count; i++)
		count += mu_tracee_stopped(&threads->tracees[i]);
	return count;
}

/* VALUES has room for one of each thread. Returns their number. */
static size_t
ask_all(struct mu_threads *threads, uint64_t end_ns, uintptr_t *values,
    size_t *unasked)
{
	struct mu_tracee *tracee = threads->tracees;
	struct mu_tracee *end = tracee + threads->count;
	size_t count = 0;
	uintptr_t begin;
	stack_t stack;

	for (; tracee < end; tracee++) {
		if (!mu_tracee_stopped(tracee))
			continue;
		if (!ask(threads, tracee, end_ns, &stack)) {
			++*unasked;
			continue;
		}
		begin = (uintptr_t)stack.ss_sp;
		if ((stack.ss_flags & SS_DISABLE) == 0 &&
		    mu_word_plausible(begin))
			values[count++] = begin;
	}
	return count;
}

static enum mu_status
were_released(uint64_t stop_ns, struct mu_why *why)
{
	if (mu_sys_now_ns() < stop_ns)
		return mu_why(why, MU_ERR_TARGET_GONE,
		    "a thread was killed while it was stopped");
	return mu_why(why, MU_ERR_TIMEOUT,
	    "a thread did not say in time where its alternate signal stack"
	    " is" MU_CURE "allow a longer stop (option max_pause)");
}

/*
 * The call waits for no other thread, so these stay stopped also if it is late,
 * as long as the stop may last.
 */
enum mu_status
mu_alternate_stacks_add(struct mu_snapshot *snap, struct mu_threads *threads,
    struct mu_arena *arena, uint64_t stop_ns, size_t *unasked,
    struct mu_why *why)
{
	uint64_t now = mu_sys_now_ns(), hold_ns = threads->hold_ns;
	uint64_t end_ns = now < stop_ns ? now + (stop_ns - now) / 2 : now;
	size_t count = snap->num_kernel_values;
	size_t stopped = count_stopped(threads);
	uintptr_t *values;

	*unasked = 0;
	values =
	    mu_arena_alloc(arena, count + threads->count + 1, sizeof(*values));
	if (values == NULL) {
		*unasked = threads->count;
		return MU_OK;
	}
	if (count > 0)
		memcpy(values, snap->kernel_values, count * sizeof(*values));
	if (now < stop_ns && hold_ns < stop_ns - end_ns)
		threads->hold_ns = stop_ns - end_ns;
	count += ask_all(threads, end_ns, values + count, unasked);
	threads->hold_ns = hold_ns;
	snap->kernel_values = values;
	snap->num_kernel_values = count;
	return count_stopped(threads) == stopped ? MU_OK
						 : were_released(stop_ns, why);
}
