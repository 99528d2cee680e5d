/*
 * What the parts of an explanation share: the marked graph, the words that hold
 * it, names of places, and the memory.
 */
#ifndef LIB_EXPLAIN_EXPLAINING_H
#define LIB_EXPLAIN_EXPLAINING_H

#include "heapwalk/explain/routes.h"
#include "lib/explain/live_types.h"
#include "lib/explain/places.h"
#include "lib/explain/typed_walk.h"

/* What there was no time or no memory for. */
struct mu_missing {
	enum mu_status status; /* MU_OK: nothing is missing */
	char what[256];
};

struct mu_explaining {
	struct mu_explained *out;
	struct mu_graph *graph;
	const struct mu_heap *heap;
	const struct mu_roots *roots;
	const struct mu_snapshot *snap;
	const struct mu_recorder *recorder; /* or NULL */
	struct mu_arena *tables;            /* rewound at the end */
	uint64_t end_ns;
	struct mu_deadline deadline; /* of the part that is being explained */
	struct mu_missing missing;
	struct mu_held held;
	struct mu_places places;
	struct mu_live_types types;
	struct mu_typed typed;
	bool python; /* objects of CPython have edges from their owners only */
};

/* lib/explain/path.c: the path from a root to block NUMBER. */
struct mu_path {
	struct mu_step *steps;
	size_t count;
	bool doubtful; /* only doubtful words lead to it */
};

/* Returns false if memory is exhausted; an unreachable block has no path. */
bool mu_path_find(struct mu_explaining *explaining,
    const struct mu_routes *routes, uint32_t number, struct mu_path *path);

/*
 * lib/explain/retained.c, lib/explain/why.c, lib/explain/in_use.c: fill one
 * part of explaining->out. MU_ERR_NO_MEMORY, MU_ERR_TIMEOUT.
 */
enum mu_status mu_retained_explain(struct mu_explaining *explaining);
enum mu_status mu_why_explain(struct mu_explaining *explaining);
enum mu_status mu_in_use_explain(struct mu_explaining *explaining);

/* lib/explain/save.c: write all to explaining->out->wanted.save. */
enum mu_status mu_save_explain(struct mu_explaining *explaining);

/*
 * lib/explain/stacks.c: with a recorder, who allocated what is in use, and the
 * blocks among COUNT STEPS.
 */
enum mu_status mu_stacks_explain(struct mu_explaining *explaining);
void mu_stacks_name_steps(struct mu_explaining *explaining,
    struct mu_step *const *steps, size_t count);

/*
 * lib/explain/step_types.c: find the types and fields of COUNT steps by what is
 * declared.
 */
void mu_steps_name(struct mu_explaining *explaining,
    struct mu_step *const *steps, size_t count);

/*
 * lib/explain/pools.c: note what a program divides by itself, and how it can be
 * made to allocate each piece.
 */
void mu_pools_note(struct mu_explaining *explaining);

#endif
