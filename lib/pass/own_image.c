#include "lib/pass/own_image.h"

#include <sched.h>

#include "lib/helpers/descriptors.h"
#include "lib/helpers/image.h"
#include "lib/helpers/sweeper.h"
#include "lib/state/left_out.h"
#include "mu/procfs.h"
#include "mu/sys.h"

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

enum mu_status
mu_own_image_take(struct mu_pass *pass)
{
	enum mu_status status = mu_image_note(pass);

	if (status == MU_OK)
		status = start_sweeper(pass);
	if (status != MU_OK)
		return status;
	mu_room_prefer(pass->sweeper);
	mu_left_out_await(pass);
	return MU_OK;
}

void
mu_own_image_close(struct mu_pass *pass)
{
	mu_sys_close(&pass->memory);
	mu_sys_close(&pass->pagemap);
}
