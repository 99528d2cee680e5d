/*
 * The calls that only ask whether there are leaks.
 *
 * Runs in: original.
 */
#include "lib/pass/pass.h"
#include "lib/state/library.h"
#include "mu/arch/cpu.h"

/* entries in the log of a failed call */
#define LIMIT 10

/* Below a frame's address a function saves its caller's registers. */
#define SAVED_BYTES (MU_CALLEE_SAVED * sizeof(uintptr_t))

bool mu_no_leaks_from(const void *frame, const void *unused1,
    const void *unused2, const struct mu_caller *caller);

MU_ARCH_ENTRY(memunreachable_no_leaks_from, mu_no_leaks_from);

static __attribute__((noinline)) bool
no_leaks(const struct mu_caller *caller, const struct mu_checkpoint *since)
{
	struct mu_request request = {
		.caller = caller,
		.since = since,
		.limit = LIMIT,
		.log_policy = MU_LOG_POLICY_LEAKS,
	};
	struct UnreachableMemoryInfo info = { 0 };

	mu_pass_run(&request, &info);
	return info.status == MEMUNREACHABLE_COMPLETE && info.num_leaks == 0;
}

bool
NoLeaks(void)
{
	struct mu_caller caller;

	mu_caller_capture(&caller);
	return no_leaks(&caller, NULL);
}

bool
NoNewLeaks(const struct MemunreachableCheckpoint *checkpoint)
{
	struct mu_caller caller;

	mu_caller_capture(&caller);
	return no_leaks(&caller, (const struct mu_checkpoint *)checkpoint);
}

/* A pass also takes the red zone below the stack pointer for alive. */
bool
mu_no_leaks_from(const void *frame, const void *unused1, const void *unused2,
    const struct mu_caller *caller)
{
	uintptr_t from = (uintptr_t)frame - SAVED_BYTES + MU_RED_ZONE;
	struct mu_caller above = *caller;

	(void)unused1;
	(void)unused2;
	if ((uintptr_t)frame > caller->sp && from > above.sp)
		above.sp = from;
	return no_leaks(&above, NULL);
}
