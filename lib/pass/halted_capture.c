#include "lib/pass/halted_capture.h"

#include "lib/pass/own_image.h"
#include "lib/state/allocator_freeze.h"
#include "lib/state/caller.h"
#include "lib/state/left_out.h"
#include "lib/state/library.h"
#include "mu/sys.h"
#include "ptrace/live/halt.h"
#include "ptrace/live/pause.h"
#include "ptrace/live/snapshot.h"

/*
 * Time for the image after the stop. A fork may wait for a stopped thread that
 * reads the events of a userfaultfd.
 */
#define IMAGE_NS (2 * MU_NS_PER_SEC)

/* A filter could kill for a call that the program never makes. */
bool
mu_halted_is_possible(const struct mu_image *image)
{
	return !image->stop.filtered &&
	    mu_halt_is_traced_by((pid_t)mu_library.options.tracer);
}

static enum mu_status
take_image(struct mu_image *image, const struct mu_halt *halt)
{
	enum mu_status status = mu_caller_add(image);

	if (status == MU_OK)
		status = mu_snapshot_halted(&image->snap, halt, NULL,
		    &image->job.arena, &image->job.why);
	if (status == MU_OK)
		status = mu_own_image_take(image);
	return status;
}

enum mu_status
mu_halted_capture(struct mu_image *image)
{
	struct mu_halt halt = { .stopped = false };
	enum mu_status status;
	bool stopped;

	mu_left_out_prepare(image);
	status = mu_pause_await_calm(image->job.pid, &image->job.why);
	if (status == MU_OK)
		status = mu_allocator_freeze(image);
	if (status == MU_OK)
		status = mu_halt_stop(&halt, &image->job.arena,
		    image->stop.ask_stacks, image->stop.until_ns,
		    image->stop.until_ns + IMAGE_NS, &image->job.why);
	image->stop.unasked = halt.request.unasked;
	if (status == MU_OK)
		status = take_image(image, &halt);
	/* Thaw malloc first: a released thread may allocate at once. */
	mu_allocator_thaw(image);
	stopped = mu_halt_release(&halt);
	if (status == MU_OK && !stopped)
		status = mu_why(&image->job.why, MU_ERR_TIMEOUT,
		    "the image was not taken before the threads went on");
	image->stop.pause_ns =
	    halt.end_ns > halt.begin_ns ? halt.end_ns - halt.begin_ns : 0;
	mu_own_image_close(image);
	return status;
}
