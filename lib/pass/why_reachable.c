/*
 * The public call that lists references to a block.
 *
 * The entry saves the caller's registers before any of this code can change
 * them, so that values of ours are not taken for the program's.
 *
 * Runs in: original.
 */
#include "lib/pass/pass.h"
#include "lib/report/reference_text.h"
#include "mu/arch/cpu.h"

_Static_assert(offsetof(struct mu_caller, sp) == 0 &&
	offsetof(struct mu_caller, tp) == sizeof(uintptr_t) &&
	offsetof(struct mu_caller, saved) == 2 * sizeof(uintptr_t) &&
	sizeof(struct mu_caller) == (2 + MU_CALLEE_SAVED) * sizeof(uintptr_t),
    "as MU_ARCH_ENTRY() writes it");

ptrdiff_t mu_why_reachable(const void *p, memunreachable_reference_fn callback,
    void *ctx, const struct mu_caller *caller);

MU_ARCH_ENTRY(memunreachable_why_reachable, mu_why_reachable);

/*
 * The result of a finished pass: the number of references, or minus the status.
 */
static ptrdiff_t
verdict(int status, const struct mu_references *references)
{
	if (status == MEMUNREACHABLE_COMPLETE ||
	    (status == MEMUNREACHABLE_PARTIAL && references->total > 0))
		return (ptrdiff_t)references->total;
	return -status;
}

static __attribute__((noinline)) ptrdiff_t
ask(const struct mu_caller *caller, struct mu_references *references)
{
	struct mu_request request = {
		.caller = caller,
		.references = references,
	};
	struct UnreachableMemoryInfo info = { 0 };
	ptrdiff_t count;

	mu_pass_run(&request, &info);
	count = verdict(info.status, references);
	FreeUnreachableMemoryInfo(&info);
	return count;
}

static void
deliver(const struct mu_references *references,
    memunreachable_reference_fn callback, void *ctx)
{
	size_t i;

	for (i = 0; i < references->count && callback != NULL; i++)
		if (!callback(ctx, &references->items[i]))
			return;
}

/* Called by the entry only. */
__attribute__((used)) ptrdiff_t
mu_why_reachable(const void *p, memunreachable_reference_fn callback, void *ctx,
    const struct mu_caller *caller)
{
	struct mu_references references = { .hidden = ~(uintptr_t)p };
	ptrdiff_t count;

	/*
	 * The callback may ask again, and then this frame is searched: neither
	 * P nor a value from which it can be made may be kept.
	 */
	p = NULL;
	__asm__ volatile("" : "+m"(references.hidden) : "m"(p));
	count = ask(caller, &references);
	deliver(&references, callback, ctx);
	mu_references_drop(&references);
	return count;
}

size_t
memunreachable_format_reference(
    const struct MemunreachableReference *reference, char *buffer, size_t size)
{
	struct mu_text text = { buffer, size, 0 };

	if (size > 0)
		buffer[0] = '\0';
	mu_report_reference(&text, reference);
	return text.length;
}
