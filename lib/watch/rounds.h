/*
 * Round trips: what each of several equal rounds has left behind, live or lost.
 *
 * Pure.
 */
#ifndef LIB_WATCH_ROUNDS_H
#define LIB_WATCH_ROUNDS_H

#include <jansson.h>

#include "lib/term/out.h"
#include "lib/watch/series.h"

#define MU_ROUNDS_MOST (MU_SERIES_LOOKS - 1)
#define MU_ROUNDS_LEFT 24

/* The best evidence first. */
enum mu_rounds_manner {
	MU_ROUNDS_EXACT, /* each round left the same number of blocks */
	MU_ROUNDS_AFTER, /* so did each but the first one */
	MU_ROUNDS_EACH,  /* each round left some */
	MU_ROUNDS_SOME,  /* more blocks than before the first round */
};

/* A group that has more blocks after the rounds. */
struct mu_rounds_left {
	char name[MU_WATCH_NAME];
	enum mu_watch_kind kind;
	enum mu_rounds_manner manner;
	uint64_t blocks, bytes; /* of the last round; SOME: of all */
};

struct mu_rounds {
	size_t count;                               /* rounds that were done */
	struct mu_rounds_left left[MU_ROUNDS_LEFT]; /* by manner, kind, bytes */
	size_t num_left;
	bool leak; /* each round lost some */
};

/*
 * Compare the looks of SERIES: one before the first round, and one after each.
 * ROUNDS needs no initialisation.
 */
void mu_rounds_compare(
    const struct mu_series *series, struct mu_rounds *rounds);

/* A line for each group, after a line that says how many rounds there were. */
void mu_rounds_text(const struct mu_out *out, const struct mu_rounds *rounds);

/* The same as an array of objects; NULL without memory. */
json_t *mu_rounds_json(const struct mu_rounds *rounds);

#endif
