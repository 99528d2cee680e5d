#include "lib/state/allocator_freeze.h"

#include "lib/state/library.h"
#include "mu/sys.h"
#include "ptrace/live/threads.h"

/* Has the program one thread, and that is not the caller? */
static bool
is_single(struct mu_pass *pass)
{
	size_t count;
	pid_t *tids;

	if (pass->request->caller != NULL)
		return false;
	return mu_threads_list(pass->pid, &tids, &count, &pass->arena, NULL) !=
	    MU_OK ||
	    count <= 2; /* the program's one, and the pass's own */
}

enum mu_status
mu_allocator_find(struct mu_pass *pass)
{
	return mu_heaps_detect(
	    &pass->heaps, &pass->self, &pass->arena, &pass->why);
}

enum mu_status
mu_allocator_freeze(struct mu_pass *pass)
{
	const struct mu_heap_freeze freeze = {
		.arena = &pass->arena,
		.deadline_ns = pass->deadline_ns,
		.single = is_single(pass),
	};
	enum mu_status status =
	    mu_heaps_freeze(&pass->heaps, &freeze, &pass->why);

	mu_pass_stop_within(pass, mu_library.options.max_pause * MU_NS_PER_MS);
	return status;
}

void
mu_allocator_thaw(struct mu_pass *pass)
{
	mu_heaps_thaw(&pass->heaps);
}
