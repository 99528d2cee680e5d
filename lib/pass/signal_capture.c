/*
 * No collector is needed: the program's own thread may read its /proc whatever
 * its dumpable flag, its user ids or hidepid are, and a process that shares the
 * memory would have nothing else to do.
 */
#include "lib/pass/signal_capture.h"

#include "lib/pass/own_image.h"
#include "lib/state/allocator_freeze.h"
#include "lib/state/caller.h"
#include "lib/state/gap_sync.h"
#include "mu/sys.h"
#include "ptrace/live/pause.h"
#include "ptrace/live/signal_stop.h"
#include "ptrace/live/snapshot.h"

/*
 * A fork cannot be interrupted; the threads continue by themselves when the
 * stop has used up its time.
 */
static enum mu_status
require_full(struct mu_image *image, const struct mu_signal_stop *stop)
{
	return mu_signal_stop_is_full(stop)
	    ? MU_OK
	    : mu_why(&image->job.why, MU_ERR_TIMEOUT,
		  "the image was not taken before the threads continued" MU_CURE
		  "allow a longer stop (option max_pause)");
}

static enum mu_status
take_image(struct mu_image *image, struct mu_signal_stop *stop)
{
	enum mu_status status = mu_caller_add(image);

	/*
	 * Opening files of /proc earlier would add descriptors to the program.
	 */
	mu_signal_stop_begin_reading(stop);
	if (status == MU_OK)
		status = mu_snapshot_signal_stop(&image->snap, stop, NULL,
		    &image->job.arena, &image->job.why);
	mu_signal_stop_end_reading(stop);
	if (status == MU_OK)
		status = require_full(image, stop);
	if (status == MU_OK)
		status = mu_own_image_take(image);
	return status == MU_OK ? require_full(image, stop) : status;
}

/* By us, or by the end of their time. */
static uint64_t
released_at(const struct mu_signal_stop *stop)
{
	uint64_t end_ns = stop->leave_ns;

	if (end_ns < stop->held_ns)
		end_ns = stop->held_ns;
	return stop->count == 0 || stop->end_ns < end_ns ? stop->end_ns
							 : end_ns;
}

enum mu_status
mu_signal_capture(struct mu_image *image)
{
	struct mu_signal_stop *stop;
	enum mu_status status;
	uint64_t end_ns;

	/*
	 * Not on our stack: a delayed thread may still use it after the pass.
	 */
	stop = mu_arena_alloc(&image->job.arena, 1, sizeof(*stop));
	if (stop == NULL)
		return mu_why(&image->job.why, MU_ERR_NO_MEMORY,
		    "no memory for a list of the threads");
	image->stop.unasked = 0; /* their frames contain it */
	mu_gap_sync_prepare(image);
	status = mu_signal_stop_prepare(stop, image->job.pid, image->job.tid,
	    &image->job.arena, &image->job.why);
	if (status == MU_OK)
		status = mu_pause_await_interruptible(
		    image->job.pid, NULL, NULL, &image->job.why);
	if (status == MU_OK)
		status = mu_allocator_freeze(image);
	if (status == MU_OK)
		status = mu_signal_stop_run(stop, image->stop.until_ns,
		    image->stop.until_ns, &image->job.why);
	/* There is no other thread: the calling one waits. */
	if (stop->begin_ns == 0)
		stop->begin_ns = mu_sys_now_ns();
	if (status == MU_OK)
		status = take_image(image, stop);
	/* Thaw malloc first: a released thread may allocate at once. */
	mu_allocator_thaw(image);
	if (!mu_signal_stop_release(stop))
		image->stop.abandoned = true;
	end_ns = released_at(stop);
	if (end_ns > stop->begin_ns)
		mu_image_paused(image, end_ns - stop->begin_ns);
	mu_own_image_close(image);
	return status;
}
