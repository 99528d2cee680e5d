/*
 * What a watch keeps of its looks: the totals, and the bytes of each group.
 *
 * Pure.
 */
#ifndef LIB_WATCH_SERIES_H
#define LIB_WATCH_SERIES_H

#include "lib/growth/heap_growth.h"
#include "lib/watch/look.h"

#define MU_SERIES_LOOKS MU_KEPT_LOOKS
#define MU_SERIES_LINES 512
#define MU_SERIES_STALE 16

struct mu_series_line {
	char name[MU_WATCH_NAME];
	enum mu_watch_kind kind;
	uint64_t values[MU_SERIES_LOOKS]; /* bytes */
	uint64_t blocks[MU_SERIES_LOOKS];
};

#define MU_SERIES_OUTSIDE MU_HEAP_TOTALS /* resident beyond all of the heap */
#define MU_SERIES_TOTALS (MU_SERIES_OUTSIDE + 1)

/* Looks at one process; zero is empty. */
struct mu_series {
	struct mu_kept kept; /* looks that checked the heap */
	size_t count;        /* of them in the arrays */
	size_t unchecked, partial;
	char reason[256]; /* of the last look that did not check it */
	int status;       /* of that */
	uint64_t times_ns[MU_SERIES_LOOKS];
	uint64_t totals[MU_SERIES_TOTALS][MU_SERIES_LOOKS];
	uint64_t first_live, first_lost, last_lost; /* bytes */
	enum mu_watch_typed typed;          /* the best that a look had */
	uint64_t typed_at[MU_SERIES_LOOKS]; /* of each look */
	struct mu_watch_group stale[MU_SERIES_STALE]; /* by bytes; at the latest
							 look that knows */
	size_t num_stale;
	size_t num_lines;
	struct mu_series_line lines[MU_SERIES_LINES];
};

/* Add LOOK, after all earlier ones. */
void mu_series_add(struct mu_series *series, const struct mu_watch_look *look);

/* Resident bytes beyond all of the heap that came since the first look. */
uint64_t mu_series_gained_outside(const struct mu_series *series);

/* The line of the group NAME of KIND; NULL: there is none. */
const struct mu_series_line *mu_series_find(
    const struct mu_series *series, enum mu_watch_kind kind, const char *name);

/* The name of KIND: "lost", "live", "held". */
const char *mu_watch_kind_name(enum mu_watch_kind kind);

#endif
