#include "lib/state/caller.h"

#include <signal.h>
#include <string.h>

#include "lib/state/library.h"
#include "mu/arch/register_names.h"
#include "mu/sys.h"

void
mu_caller_note_stack(struct mu_image *image)
{
	stack_t stack = { .ss_flags = SS_DISABLE };

	mu_sys2(SYS_sigaltstack, 0, (long)&stack);
	image->stop.own_stack_begin =
	    (stack.ss_flags & SS_DISABLE) != 0 ? 0 : (uintptr_t)stack.ss_sp;
}

enum mu_status
mu_caller_add(struct mu_image *image)
{
	const struct mu_caller *caller = image->caller;
	struct mu_snapshot *snap = &image->snap;
	size_t i, num_values = snap->num_values + MU_CALLEE_SAVED;

	snap->kernel_values = &image->stop.own_stack_begin;
	snap->num_kernel_values = image->stop.own_stack_begin != 0;
	if (caller == NULL)
		return MU_OK;
	if (!mu_arena_extend(&image->job.arena, snap->threads,
		snap->num_threads, snap->num_threads + 1) ||
	    !mu_arena_extend(&image->job.arena, snap->values, snap->num_values,
		num_values) ||
	    !mu_arena_extend(
		&image->job.arena, snap->regnos, snap->num_values, num_values))
		goto no_memory;
	for (i = 0; i < MU_CALLEE_SAVED; i++)
		snap->regnos[snap->num_values + i] =
		    (uint16_t)(MU_REGNO_SAVED + i);
	snap->threads[snap->num_threads++] = (struct mu_thread) {
		.tid = image->job.tid,
		.sp = mu_exit_stack_sp(&mu_library.exit_stack, caller),
		.tp = caller->tp,
		.first_value = snap->num_values,
		.num_values = MU_CALLEE_SAVED,
		.calling = true,
	};
	memcpy(snap->values + snap->num_values, caller->saved,
	    sizeof(caller->saved));
	snap->num_values += MU_CALLEE_SAVED;
	return MU_OK;
no_memory:
	return mu_why(&image->job.why, MU_ERR_NO_MEMORY,
	    "no memory for the calling thread's registers");
}
