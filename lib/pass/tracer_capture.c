#include "lib/pass/tracer_capture.h"

#include "lib/pass/own_image.h"
#include "lib/state/allocator_freeze.h"
#include "lib/state/caller.h"
#include "lib/state/gap_sync.h"
#include "mu/sys.h"
#include "ptrace/live/pause.h"
#include "ptrace/live/snapshot.h"
#include "ptrace/live/tracer_stop.h"

/*
 * Time for the image after the stop. A fork may wait for a stopped thread that
 * reads the events of a userfaultfd.
 */
#define IMAGE_NS (2 * MU_NS_PER_SEC)

static enum mu_status
take_image(struct mu_image *image, const struct mu_tracer_stop *stop)
{
	enum mu_status status = mu_caller_add(image);

	if (status == MU_OK)
		status = mu_snapshot_tracer_stop(&image->snap, stop, NULL,
		    &image->job.arena, &image->job.why);
	if (status == MU_OK)
		status = mu_own_image_take(image);
	return status;
}

enum mu_status
mu_tracer_capture(struct mu_image *image)
{
	struct mu_tracer_stop *stop = &image->stop.tracer_stop;
	enum mu_status status;
	bool stopped = true;

	mu_gap_sync_prepare(image);
	status = mu_pause_await_interruptible(
	    image->job.pid, NULL, NULL, &image->job.why);
	if (status == MU_OK)
		status = mu_allocator_freeze(image);
	if (status == MU_OK)
		status = mu_tracer_stop_take(stop, &image->job.arena,
		    image->stop.ask_stacks, image->stop.until_ns,
		    image->stop.until_ns + IMAGE_NS, &image->job.why);
	image->stop.unasked = stop->request.unasked;
	if (status == MU_OK)
		status = take_image(image, stop);
	/* Thaw malloc first: a released thread may allocate at once. */
	mu_allocator_thaw(image);
	if (status == MU_OK && image->stop.hold)
		stop->end_ns = mu_sys_now_ns();
	else
		stopped = mu_tracer_stop_release(stop);
	if (status == MU_OK && !stopped)
		status = mu_why(&image->job.why, MU_ERR_TIMEOUT,
		    "the image was not taken before the threads continued");
	if (stop->end_ns > stop->begin_ns)
		mu_image_paused(image, stop->end_ns - stop->begin_ns);
	mu_own_image_close(image);
	return status;
}

void
mu_tracer_capture_end(struct mu_image *image)
{
	mu_sigmask mask;

	if (!image->stop.tracer_stop.stopped || !mu_sys_block_signals(&mask))
		return;
	mu_tracer_stop_release(&image->stop.tracer_stop);
	mu_sys_restore_signals(&mask);
}
