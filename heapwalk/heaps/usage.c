#include "heapwalk/heaps/usage.h"

void
mu_usage_complete(struct mu_heap_usage *usage, size_t leak_bytes)
{
	size_t live = usage->live_reachable + usage->live_unreachable;

	usage->live_unreachable = leak_bytes < live ? leak_bytes : live;
	usage->live_reachable = live - usage->live_unreachable;
}

size_t
mu_usage_held(const struct mu_heap_usage *usage)
{
	return usage->live_reachable + usage->live_unreachable +
	    usage->free_held + usage->overhead + usage->unproven;
}

size_t
mu_usage_top(const struct mu_heap_usage *usage)
{
	size_t i, top = 0;

	for (i = 0; i < usage->num_arenas; i++)
		top += usage->arenas[i].top;
	return top;
}

size_t
mu_usage_scattered(const struct mu_heap_usage *usage)
{
	return usage->free_held - mu_usage_top(usage);
}

/* True if PART is at least one part in COUNT of WHOLE. */
static bool
is_share(size_t part, size_t whole, size_t count)
{
	return part > 0 && part >= whole / count + (whole % count != 0);
}

enum mu_verdict
mu_usage_verdict_without_leaks(const struct mu_heap_usage *usage)
{
	size_t held = mu_usage_held(usage);

	if (held < MU_USAGE_LARGE)
		return MU_VERDICT_NONE;
	if (is_share(usage->live_reachable, held, MU_USAGE_IN_USE))
		return MU_VERDICT_IN_USE;
	if (is_share(mu_usage_scattered(usage), held, MU_USAGE_FREE))
		return MU_VERDICT_FRAGMENTATION;
	return is_share(mu_usage_top(usage), held, MU_USAGE_FREE)
	    ? MU_VERDICT_SLACK
	    : MU_VERDICT_NONE;
}

enum mu_verdict
mu_usage_verdict(const struct mu_heap_usage *usage)
{
	return usage->live_unreachable > 0
	    ? MU_VERDICT_LEAK
	    : mu_usage_verdict_without_leaks(usage);
}

const char *
mu_verdict_name(enum mu_verdict verdict)
{
	static const char *const names[MU_VERDICT_COUNT] = {
		[MU_VERDICT_NONE] = "none",
		[MU_VERDICT_LEAK] = "leak",
		[MU_VERDICT_IN_USE] = "in_use",
		[MU_VERDICT_FRAGMENTATION] = "fragmentation",
		[MU_VERDICT_SLACK] = "slack",
	};

	return (unsigned)verdict < MU_VERDICT_COUNT ? names[verdict] : "none";
}
