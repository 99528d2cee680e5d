#include "lib/state/caller.h"

#include <signal.h>
#include <string.h>

#include "mu/arch/register_names.h"
#include "mu/sys.h"

void
mu_caller_note_stack(struct mu_pass *pass)
{
	stack_t stack = { .ss_flags = SS_DISABLE };

	mu_sys2(SYS_sigaltstack, 0, (long)&stack);
	pass->own_stack_begin =
	    (stack.ss_flags & SS_DISABLE) != 0 ? 0 : (uintptr_t)stack.ss_sp;
}

enum mu_status
mu_caller_add(struct mu_pass *pass)
{
	const struct mu_caller *caller = pass->request->caller;
	struct mu_snapshot *snap = &pass->snap;
	struct mu_thread *threads;
	uintptr_t *values;
	uint16_t *places;
	size_t i;

	snap->kernel_values = &pass->own_stack_begin;
	snap->num_kernel_values = pass->own_stack_begin != 0;
	if (caller == NULL)
		return MU_OK;
	threads = mu_arena_grow(&pass->arena, snap->threads, snap->num_threads,
	    snap->num_threads + 1, sizeof(*threads));
	if (threads == NULL)
		goto no_memory;
	snap->threads = threads;
	values = mu_arena_grow(&pass->arena, snap->values, snap->num_values,
	    snap->num_values + MU_CALLEE_SAVED, sizeof(*values));
	if (values == NULL)
		goto no_memory;
	snap->values = values;
	places = mu_arena_grow(&pass->arena, snap->places, snap->num_values,
	    snap->num_values + MU_CALLEE_SAVED, sizeof(*places));
	if (places == NULL)
		goto no_memory;
	snap->places = places;
	for (i = 0; i < MU_CALLEE_SAVED; i++)
		places[snap->num_values + i] = (uint16_t)(MU_PLACE_SAVED + i);
	threads[snap->num_threads++] = (struct mu_thread) {
		.tid = pass->tid,
		.sp = caller->sp,
		.tp = caller->tp,
		.first_value = snap->num_values,
		.num_values = MU_CALLEE_SAVED,
		.calling = true,
	};
	memcpy(values + snap->num_values, caller->saved, sizeof(caller->saved));
	snap->num_values += MU_CALLEE_SAVED;
	return MU_OK;
no_memory:
	return mu_why(&pass->why, MU_ERR_NO_MEMORY,
	    "no memory for the calling thread's registers");
}
