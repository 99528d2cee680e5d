#include "lib/watch/plan.h"

#define SHARE 100 /* of the time that the stops may take: 1 / SHARE */

void
mu_watch_plan_stop(struct mu_watch_plan *plan, uint64_t stop_ns)
{
	plan->stops_ns += stop_ns;
	if (stop_ns > plan->longest_ns)
		plan->longest_ns = stop_ns;
}

/* The next stop is expected to be as long as the longest one. */
uint64_t
mu_watch_plan_allowed(const struct mu_watch_plan *plan)
{
	return plan->begin_ns + SHARE * (plan->stops_ns + plan->longest_ns);
}

uint64_t
mu_watch_plan_next(
    const struct mu_watch_plan *plan, uint64_t last_ns, bool *stretched)
{
	uint64_t next = last_ns + plan->every_ns;
	uint64_t allowed = mu_watch_plan_allowed(plan);

	*stretched = allowed > next;
	if (*stretched)
		next = allowed;
	if (plan->end_ns == 0 || next <= plan->end_ns)
		return next;
	/* One more look at the end, unless that would be too early. */
	return allowed <= plan->end_ns &&
		last_ns + plan->every_ns / 2 <= plan->end_ns
	    ? plan->end_ns
	    : 0;
}
