/*
 * Visit every unreachable block, including those that are folded into an entry.
 *
 * Runs in: original.
 */
#include "lib/pass/pass.h"
#include "lib/pipe/candidates.h"
#include "lib/state/library.h"

static __attribute__((noinline)) bool
ask(const struct mu_caller *caller, struct mu_unreachable *unreachable)
{
	struct mu_request request = {
		.caller = caller,
		.unreachable = unreachable,
	};
	struct UnreachableMemoryInfo info = { 0 };

	return mu_pass_run(&request, &info);
}

bool
memunreachable_each_unreachable(
    void (*visit)(void *ctx, uintptr_t begin, size_t size), void *ctx)
{
	struct mu_unreachable unreachable = { .blocks = NULL };
	struct mu_caller caller;
	bool checked;
	size_t i;

	mu_caller_capture(&caller);
	checked = ask(&caller, &unreachable);
	for (i = 0; checked && i < unreachable.count; i++)
		visit(ctx, unreachable.blocks[i].begin,
		    mu_range_size(unreachable.blocks[i]));
	if (unreachable.blocks != NULL)
		mu_results_free(&mu_library.results, unreachable.blocks);
	return checked;
}
