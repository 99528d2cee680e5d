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

size_t
mu_alternate_stacks_add(struct mu_snapshot *snap, struct mu_threads *threads,
    struct mu_arena *arena, uint64_t stop_ns)
{
	uint64_t now = mu_sys_now_ns();
	uint64_t end_ns = now < stop_ns ? now + (stop_ns - now) / 2 : now;
	size_t i, unasked = 0, count = snap->num_kernel_values;
	uintptr_t *values, begin;
	stack_t stack;

	values =
	    mu_arena_alloc(arena, count + threads->count + 1, sizeof(*values));
	if (values == NULL)
		return threads->count;
	if (count > 0)
		memcpy(values, snap->kernel_values, count * sizeof(*values));
	for (i = 0; i < threads->count; i++) {
		if (!mu_tracee_stopped(&threads->tracees[i]))
			continue;
		if (!ask(threads, &threads->tracees[i], end_ns, &stack)) {
			unasked++;
			continue;
		}
		begin = (uintptr_t)stack.ss_sp;
		if ((stack.ss_flags & SS_DISABLE) == 0 &&
		    mu_word_plausible(begin))
			values[count++] = begin;
	}
	snap->kernel_values = values;
	snap->num_kernel_values = count;
	return unasked;
}
