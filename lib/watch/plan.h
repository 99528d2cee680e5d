/*
 * When to look next: as often as wanted, but so seldom that all stops together
 * are at most one hundredth of the time.
 *
 * Pure.
 */
#ifndef LIB_WATCH_PLAN_H
#define LIB_WATCH_PLAN_H

#include <stdbool.h>
#include <stdint.h>

struct mu_watch_plan {
	uint64_t begin_ns; /* of the watch */
	uint64_t every_ns; /* as wanted */
	uint64_t end_ns;   /* of the watch; 0: none */
	uint64_t stops_ns; /* all stops so far */
	uint64_t longest_ns;
};

/* Count a stop of STOP_NS. */
void mu_watch_plan_stop(struct mu_watch_plan *plan, uint64_t stop_ns);

/* From when on the stops allow another look. */
uint64_t mu_watch_plan_allowed(const struct mu_watch_plan *plan);

/*
 * When the next look begins, after one that began at LAST_NS; 0: there is none
 * before the end. *STRETCHED: it is later than wanted, because of the stops.
 */
uint64_t mu_watch_plan_next(
    const struct mu_watch_plan *plan, uint64_t last_ns, bool *stretched);

#endif
