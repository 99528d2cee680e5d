#include "lib/state/sweeper_end.h"

#include <sys/wait.h>

#include "mu/sys.h"

/* How long to wait for the end of a sweeper that was killed. */
#define REAP_NS (10 * MU_NS_PER_SEC)

/*
 * In a memory cgroup that is nearly full, the sweeper is asked to free its
 * memory before it is killed. A process that is being killed still has its
 * memory, but the OOM killer no longer counts it (oom_badness() in
 * mm/oom_kill.c: no task->mm) and would choose the program.
 */
#define DROP_NS (MU_NS_PER_SEC / 2)

/*
 * Freeing an image takes some 30 ms per gigabyte. A pidfd would report the end
 * at once, but would be a descriptor that the program did not open. The pipe is
 * nearly as fast: do_exit() closes the descriptors after the memory and shortly
 * before it notifies the parent. If a child that another thread forked holds
 * the write end, there is no end of file, and only these naps.
 */
#define FIRST_NAP_NS (20 * 1000ull)
#define LONGEST_NAP_NS (1000 * 1000ull)

/* How long after the pipe was closed to wait without sleeping. */
#define CLOSED_NS (50 * 1000ull)

enum mu_status
mu_sweeper_open_pipe(struct mu_sweeper *sweeper, struct mu_why *why)
{
	int ends[2] = { -1, -1 };
	long error = mu_sys2(SYS_pipe2, (long)ends, O_CLOEXEC);

	if (error < 0)
		return mu_why(why, mu_status_from_errno((int)-error),
		    "cannot make a pipe (errno %ld)", -error);
	sweeper->pipe_read = ends[0];
	sweeper->pipe_write = ends[1];
	return MU_OK;
}

bool
mu_sweeper_ended(struct mu_sweeper *sweeper)
{
	int status = -1;
	pid_t got;

	if (sweeper->pid <= 0)
		return true;
	got = mu_sys_wait(sweeper->pid, &status, MU_WALL | WNOHANG);
	if (got == sweeper->pid || got == -ECHILD) {
		sweeper->status = got == sweeper->pid ? status : -1;
		sweeper->pid = 0;
	}
	return sweeper->pid == 0;
}

/* Wait until the pipe is closed, or for NAP ns. */
static bool
await_closing(const struct mu_sweeper *sweeper, uint64_t nap)
{
	struct pollfd wait = { .fd = sweeper->pipe_read };
	struct timespec span = mu_sys_timespec(nap);
	long n = mu_syscall6(SYS_ppoll, (long)&wait, 1, (long)&span, 0, 0, 0);

	if (n < 0 && n != -EINTR)
		mu_sys_sleep_ns(nap); /* ppoll() is refused */
	return n > 0;
}

/*
 * Wait a little, at most about 1 ms. *CLOSED_NS is when the pipe was seen
 * closed; 0: not yet.
 */
static void
pass_time(const struct mu_sweeper *sweeper, uint64_t *nap, uint64_t *closed_ns)
{
	if (*closed_ns != 0 && mu_sys_now_ns() - *closed_ns < CLOSED_NS)
		return;
	if (*closed_ns != 0) {
		mu_sys_sleep_ns(*nap);
	} else if (await_closing(sweeper, *nap)) {
		*closed_ns = mu_sys_now_ns() | 1;
		*nap = FIRST_NAP_NS;
	}
	if (*nap < LONGEST_NAP_NS)
		*nap *= 2;
}

void
mu_sweeper_reap(struct mu_sweeper *sweeper, uint64_t deadline_ns)
{
	uint64_t nap = FIRST_NAP_NS, closed_ns = 0;
	bool killed = false, asked = !sweeper->budget.tight;

	while (!mu_sweeper_ended(sweeper)) {
		if (mu_sys_now_ns() >= deadline_ns) {
			/*
			 * The process cannot be waited for: it is a zombie by
			 * now.
			 */
			if (killed)
				return;
			mu_sys_kill(
			    sweeper->pid, asked ? SIGKILL : MU_SWEEPER_DROP);
			deadline_ns =
			    mu_sys_now_ns() + (asked ? REAP_NS : DROP_NS);
			killed = asked;
			asked = true;
		}
		pass_time(sweeper, &nap, &closed_ns);
	}
}
