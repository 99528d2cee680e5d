/*
 * There is no collector: what it reads of /proc, the program's own thread may
 * read whatever its dumpable flag, its user ids or a hidepid say, and a
 * process that shares the memory would have nothing else to do.
 */
#include "lib/pass/parked_capture.h"

#include <sched.h>

#include "lib/helpers/descriptors.h"
#include "lib/helpers/image.h"
#include "lib/helpers/sweeper.h"
#include "lib/state/allocator_freeze.h"
#include "lib/state/caller.h"
#include "lib/state/left_out.h"
#include "mu/procfs.h"
#include "mu/sys.h"
#include "ptrace/live/parking.h"
#include "ptrace/live/pause.h"
#include "ptrace/live/snapshot.h"

/* Its descriptors are copies: no file of the program is kept open by them. */
static void
sweeper_body(void *arg)
{
	struct mu_pass *pass = arg;
	const int keep[] = { pass->pipe_write, pass->log.fd,
		pass->log.syslog_fd, pass->memory, pass->pagemap,
		mu_procfs_descriptor() };

	mu_descriptors_close_but(keep, sizeof(keep) / sizeof(keep[0]));
	mu_sweeper(pass);
}

/*
 * Start the sweeper on a separate stack, as ours may be a coroutine's. Without
 * an exit signal it is a child that causes no SIGCHLD and that waitpid(-1) does
 * not see.
 */
static enum mu_status
start_sweeper(struct mu_pass *pass)
{
	long pid = mu_arch_clone(CLONE_UNTRACED | CLONE_PARENT_SETTID,
	    pass->stack + pass->stack_size, &pass->sweeper, sweeper_body, pass);

	if (pid < 0)
		return mu_why(&pass->why, mu_status_from_errno((int)-pid),
		    "cannot fork the sweeper (errno %ld)", -pid);
	return MU_OK;
}

static enum mu_status
take_image(struct mu_pass *pass, struct mu_parking *parking)
{
	enum mu_status status = mu_caller_add(pass);

	/* Files of /proc opened before would be descriptors of the program. */
	if (status == MU_OK)
		status = mu_snapshot_parked(
		    &pass->snap, parking, NULL, &pass->arena, &pass->why);
	if (status == MU_OK)
		status = mu_image_note(pass);
	if (status == MU_OK)
		status = start_sweeper(pass);
	if (status == MU_OK) {
		mu_room_prefer(pass->sweeper);
		mu_left_out_await(pass);
	}
	if (status == MU_OK && !mu_parking_is_full(parking))
		status = mu_why(&pass->why, MU_ERR_TIMEOUT,
		    "the image was not taken before the threads went on");
	return status;
}

enum mu_status
mu_parked_capture(struct mu_pass *pass)
{
	struct mu_parking *parking;
	enum mu_status status;

	/* Not on our stack: a thread that is held up may leave it late. */
	parking = mu_arena_alloc(&pass->arena, 1, sizeof(*parking));
	if (parking == NULL)
		return mu_why(&pass->why, MU_ERR_NO_MEMORY,
		    "no memory for a list of the threads");
	pass->unasked = 0; /* their frames tell it */
	mu_left_out_prepare(pass);
	status = mu_parking_prepare(
	    parking, pass->pid, pass->tid, &pass->arena, &pass->why);
	if (status == MU_OK)
		status = mu_pause_await_calm(pass->pid, &pass->why);
	if (status == MU_OK)
		status = mu_allocator_freeze(pass);
	if (status == MU_OK)
		status = mu_parking_stop_prepared(
		    parking, pass->stop_ns, pass->deadline_ns, &pass->why);
	/* There is no other thread: only the calling one waits. */
	if (parking->begin_ns == 0)
		parking->begin_ns = mu_sys_now_ns();
	if (status == MU_OK)
		status = take_image(pass, parking);
	/* Now, as who is released may allocate at once. */
	mu_allocator_thaw(pass);
	if (!mu_parking_release(parking))
		pass->abandoned = true;
	pass->pause_ns = parking->end_ns > parking->begin_ns
	    ? parking->end_ns - parking->begin_ns
	    : 0;
	mu_sys_close(&pass->memory);
	mu_sys_close(&pass->pagemap);
	return status;
}
