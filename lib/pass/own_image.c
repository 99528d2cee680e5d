#include "lib/pass/own_image.h"

#include <sched.h>

#include "lib/helpers/descriptors.h"
#include "lib/helpers/image.h"
#include "lib/helpers/sweeper.h"
#include "lib/state/gap_sync.h"
#include "lib/state/library.h"
#include "mu/procfs.h"
#include "mu/sys.h"

enum mu_status
mu_own_image_find_room(struct mu_image *image)
{
	struct mu_copy_budget *budget = &image->sweeper.budget;
	enum mu_status status;

	mu_copy_budget_find_limits(budget, &mu_library.cgroups);
	status = mu_copy_budget_check(
	    budget, mu_copy_budget_can_prefer(image->job.pid), &image->job.why);
	image->sweeper.has_room = status == MU_OK;
	mu_library.room = (struct mu_known_room) {
		.pid = image->job.pid,
		.until_ns =
		    status == MU_OK && !budget->tight ? budget->next_ns : 0,
	};
	return status;
}

bool
mu_own_image_may_begin(struct mu_image *image)
{
	const struct mu_known_room *room = &mu_library.room;

	if (image->sweeper.has_room ||
	    (room->pid == image->job.pid && image->sweeper.budget.pooled == 0 &&
		mu_sys_now_ns() < room->until_ns))
		return true;
	return mu_own_image_find_room(image) == MU_OK &&
	    !image->sweeper.budget.tight;
}

/*
 * Its descriptors are copies, which it closes, so that no file of the program
 * stays open.
 */
static void
sweeper_body(void *arg)
{
	struct mu_image *image = arg;
	const int keep[] = { image->sweeper.pipe_write, image->job.log.fd,
		image->job.log.syslog_fd, image->uncopied.memory,
		image->uncopied.pagemap, mu_procfs_descriptor() };

	mu_descriptors_close_but(keep, sizeof(keep) / sizeof(keep[0]));
	mu_sweeper(image);
}

/*
 * Start the sweeper on a separate stack, as ours may be a coroutine's. It has
 * no exit signal, so it causes no SIGCHLD and waitpid(-1) does not see it.
 */
static enum mu_status
start_sweeper(struct mu_image *image)
{
	long pid = mu_arch_clone(CLONE_UNTRACED | CLONE_PARENT_SETTID,
	    image->stack + image->stack_size, &image->sweeper.pid, sweeper_body,
	    image);

	if (pid < 0)
		return mu_why(&image->job.why, mu_status_from_errno((int)-pid),
		    "cannot fork the sweeper (errno %ld)", -pid);
	return MU_OK;
}

enum mu_status
mu_own_image_take(struct mu_image *image)
{
	enum mu_status status = mu_image_note(image);

	if (status == MU_OK)
		status = start_sweeper(image);
	if (status != MU_OK)
		return status;
	mu_copy_budget_prefer(image->sweeper.pid);
	mu_gap_sync_await(image);
	return MU_OK;
}

void
mu_own_image_close(struct mu_image *image)
{
	mu_sys_close(&image->uncopied.memory);
	mu_sys_close(&image->uncopied.pagemap);
}
