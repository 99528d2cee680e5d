#include "lib/state/allocator_freeze.h"

#include "lib/state/library.h"
#include "mu/sys.h"
#include "ptrace/live/threads.h"

#define BRIEF_TRIES 8
#define RUNS_NS (MU_NS_PER_MS) /* more than our own waiting takes */

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

/* CPU time of all threads. */
static uint64_t
spent_ns(void)
{
	struct timespec time = { 0 };

	mu_sys2(SYS_clock_gettime, CLOCK_PROCESS_CPUTIME_ID, (long)&time);
	return (uint64_t)time.tv_sec * MU_NS_PER_SEC + (uint64_t)time.tv_nsec;
}

/*
 * A brief stop waits for malloc until the other threads, if they run at all,
 * have run as long as MU_STOP_BRIEF_NS: on a busy machine one that holds a lock
 * may not get a CPU in that time.
 */
static enum mu_status
freeze_heaps(struct mu_image *image, const struct mu_heap_freeze *freeze)
{
	uint64_t begin = spent_ns(), last, now = begin;
	enum mu_status status;
	int tries = BRIEF_TRIES;

	do {
		status = mu_heaps_freeze(
		    &image->stop.heaps, freeze, &image->job.why);
		last = now;
		now = spent_ns();
	} while (status == MU_ERR_BUSY && image->stop.brief && --tries > 0 &&
	    now - last > RUNS_NS && now - begin < MU_STOP_BRIEF_NS);
	return status;
}

/*
 * At the end of the program its other threads may stand still; a look by the
 * command after that knows less.
 */
static uint64_t
stop_span_ns(const struct mu_image *image)
{
	uint64_t most = mu_library.options.max_pause * MU_NS_PER_MS;

	return image->stop.at_end && most < MU_STOP_AT_END_NS
	    ? MU_STOP_AT_END_NS
	    : most;
}

/*
 * How long a lock may be held: a thread that is stopped already releases none.
 */
static uint64_t
patience_ns(const struct mu_image *image)
{
	if (image->stop.held != 0)
		return mu_library.options.max_pause * MU_NS_PER_MS;
	return image->stop.brief ? MU_STOP_BRIEF_NS : UINT64_MAX;
}

/* Its stop has expired; in the next try it is not stopped before the others. */
static enum mu_status
locked_while_held(struct mu_image *image)
{
	pid_t held = image->stop.held;

	image->stop.late = (struct mu_late_threads) { { 0 } };
	image->stop.until_ns = mu_sys_now_ns();
	return mu_why(&image->job.why, MU_ERR_TIMEOUT,
	    "malloc stayed locked while thread %d, which is slow to stop, was"
	    " stopped" MU_CURE "ask again later",
	    held);
}

enum mu_status
mu_allocator_freeze(struct mu_image *image)
{
	const struct mu_heap_freeze freeze = {
		.arena = &image->job.arena,
		.deadline_ns = image->job.deadline_ns,
		.patience_ns = patience_ns(image),
		.single = is_single(image),
	};
	enum mu_status status = freeze_heaps(image, &freeze);

	if (status == MU_ERR_BUSY && image->stop.held != 0)
		return locked_while_held(image);
	mu_image_stop_within(image, stop_span_ns(image));
	return status;
}

void
mu_allocator_thaw(struct mu_image *image)
{
	mu_heaps_thaw(&image->stop.heaps);
}
