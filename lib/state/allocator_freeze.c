#include "lib/state/allocator_freeze.h"

#include "lib/state/library.h"
#include "mu/sys.h"
#include "ptrace/live/threads.h"

/* True if the program has one thread, which is not the calling one. */
static bool
is_single(struct mu_image *image)
{
	size_t count;
	pid_t *tids;

	if (image->caller != NULL)
		return false;
	return mu_threads_list(image->job.pid, &tids, &count, &image->job.arena,
		   NULL) != MU_OK ||
	    count <= 2; /* the program's thread, and that of the pass */
}

enum mu_status
mu_allocator_find(struct mu_image *image)
{
	return mu_heaps_detect(&image->stop.heaps, &image->stop.self,
	    &image->job.arena, &image->job.why);
}

enum mu_status
mu_allocator_freeze(struct mu_image *image)
{
	const struct mu_heap_freeze freeze = {
		.arena = &image->job.arena,
		.deadline_ns = mu_image_locks_until(image),
		.single = is_single(image),
	};
	enum mu_status status =
	    mu_heaps_freeze(&image->stop.heaps, &freeze, &image->job.why);

	mu_image_stop_within(
	    image, mu_library.options.max_pause * MU_NS_PER_MS);
	return status;
}

void
mu_allocator_thaw(struct mu_image *image)
{
	mu_heaps_thaw(&image->stop.heaps);
}
