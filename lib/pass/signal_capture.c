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

static enum mu_status
take_image(struct mu_image *image, struct mu_signal_stop *stop)
{
	enum mu_status status = mu_caller_add(image);

	/*
	 * Opening files of /proc earlier would add descriptors to the program.
	 */
	if (status == MU_OK)
		status = mu_snapshot_signal_stop(&image->snap, stop, NULL,
		    &image->job.arena, &image->job.why);
	if (status == MU_OK)
		status = mu_own_image_take(image);
	if (status == MU_OK && !mu_signal_stop_is_full(stop))
		status = mu_why(&image->job.why, MU_ERR_TIMEOUT,
		    "the image was not taken before the threads continued");
	return status;
}

enum mu_status
mu_signal_capture(struct mu_image *image)
{
	struct mu_signal_stop *stop;
	enum mu_status status;

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
		    image->job.pid, &image->job.why);
	if (status == MU_OK)
		status = mu_allocator_freeze(image);
	if (status == MU_OK)
		status = mu_signal_stop_run(stop, image->stop.until_ns,
		    image->job.deadline_ns, &image->job.why);
	/* There is no other thread: the calling one waits. */
	if (stop->begin_ns == 0)
		stop->begin_ns = mu_sys_now_ns();
	if (status == MU_OK)
		status = take_image(image, stop);
	/* Thaw malloc first: a released thread may allocate at once. */
	mu_allocator_thaw(image);
	if (!mu_signal_stop_release(stop))
		image->stop.abandoned = true;
	if (stop->end_ns > stop->begin_ns)
		mu_image_paused(image, stop->end_ns - stop->begin_ns);
	mu_own_image_close(image);
	return status;
}
