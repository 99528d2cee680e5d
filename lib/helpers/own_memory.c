#include "lib/helpers/own_memory.h"

#include "lib/state/left_out.h"
#include "lib/state/library.h"
#include "mu/sort.h"

struct own_ranges {
	struct mu_range *ranges;
	size_t count, max;
};

static void
add_own(void *ctx, struct mu_range range)
{
	struct own_ranges *own = ctx;

	if (own->ranges != NULL && own->count < own->max)
		own->ranges[own->count] = range;
	own->count++;
}

static void
visit_own(struct mu_pass *pass, struct own_ranges *own)
{
	const struct mu_watch *watch = &mu_library.watch;

	mu_arena_each(&pass->arena, add_own, own);
	mu_arena_each(&mu_library.registry.arena, add_own, own);
	mu_results_each(&mu_library.results, add_own, own);
	add_own(own, mu_left_out_range(pass));
	add_own(own, mu_own_frames(pass));
	add_own(own, pass->own_stack);
	add_own(own,
	    (struct mu_range) { (uintptr_t)pass->stack,
		(uintptr_t)pass->stack + pass->stack_size });
	add_own(own,
	    (struct mu_range) { (uintptr_t)watch->stack,
		(uintptr_t)watch->stack + watch->stack_size });
}

static int
by_begin(const void *a, const void *b)
{
	const struct mu_range *x = a, *y = b;

	return (x->begin > y->begin) - (x->begin < y->begin);
}

struct mu_range
mu_own_frames(const struct mu_pass *pass)
{
	struct mu_range frames = { pass->frames_begin, pass->frames_begin };

	if (pass->request->references != NULL &&
	    pass->request->caller != NULL &&
	    pass->request->caller->sp > frames.begin)
		frames.end = pass->request->caller->sp;
	return frames;
}

/* Counted first, then filled: nothing changes in an image. */
enum mu_status
mu_own_memory_list(struct mu_pass *pass, struct mu_arena *tables)
{
	struct own_ranges own = { 0 };

	visit_own(pass, &own);
	own.ranges = mu_arena_alloc(tables, own.count, sizeof(*own.ranges));
	if (own.ranges == NULL)
		return mu_why(&pass->why, MU_ERR_NO_MEMORY,
		    "no memory for the sweeper's tables");
	own.max = own.count;
	own.count = 0;
	visit_own(pass, &own);
	mu_sort(own.ranges, own.count, sizeof(*own.ranges), by_begin);
	pass->snap.own = own.ranges;
	pass->snap.num_own = own.count;
	return MU_OK;
}
