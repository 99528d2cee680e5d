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
 * How much longer than the stop the image may take. A fork may wait for a
 * thread that reads the events of a userfaultfd and that is stopped.
 */
#define IMAGE_NS (2 * MU_NS_PER_SEC)

/* A filter could kill for a call that the program never makes. */
bool
mu_halted_is_possible(const struct mu_pass *pass)
{
	return !pass->filtered &&
	    mu_halt_is_traced_by((pid_t)mu_library.options.tracer);
}

static enum mu_status
take_image(struct mu_pass *pass, const struct mu_halt *halt)
{
	enum mu_status status = mu_caller_add(pass);

	if (status == MU_OK)
		status = mu_snapshot_halted(
		    &pass->snap, halt, NULL, &pass->arena, &pass->why);
	if (status == MU_OK)
		status = mu_own_image_take(pass);
	return status;
}

enum mu_status
mu_halted_capture(struct mu_pass *pass)
{
	struct mu_halt halt = { .stopped = false };
	enum mu_status status;
	bool stopped;

	mu_left_out_prepare(pass);
	status = mu_pause_await_calm(pass->pid, &pass->why);
	if (status == MU_OK)
		status = mu_allocator_freeze(pass);
	if (status == MU_OK)
		status = mu_halt_stop(&halt, &pass->arena, pass->ask_stacks,
		    pass->stop_ns, pass->stop_ns + IMAGE_NS, &pass->why);
	pass->unasked = halt.request.unasked;
	if (status == MU_OK)
		status = take_image(pass, &halt);
	/* Thaw malloc first: a released thread may allocate at once. */
	mu_allocator_thaw(pass);
	stopped = mu_halt_release(&halt);
	if (status == MU_OK && !stopped)
		status = mu_why(&pass->why, MU_ERR_TIMEOUT,
		    "the image was not taken before the threads went on");
	pass->pause_ns =
	    halt.end_ns > halt.begin_ns ? halt.end_ns - halt.begin_ns : 0;
	mu_own_image_close(pass);
	return status;
}
