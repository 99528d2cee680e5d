/*
 * For tests of the references to a block: made-up blocks, roots and threads,
 * and the answer. Each test file includes it once.
 */
#ifndef TESTS_SUPPORT_GRAPH_REFERRING_H
#define TESTS_SUPPORT_GRAPH_REFERRING_H

#include "heapwalk/refer/referrers.h"
#include "tests/support/graph/marking.h"

extern struct mu_snapshot referring_snap;
extern struct mu_referrers found;
extern struct mu_range ours;
extern struct mu_why referring_why;

void open_case(int kind, size_t size);
enum mu_status look_for(const void *p, uint64_t deadline_ns);

/* Mark, then look: COUNT references. */
void expect(const void *p, size_t count);

#endif
