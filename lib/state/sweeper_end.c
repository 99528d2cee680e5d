/*
 * Uses no malloc, no errno.
 */
#include "lib/state/sweeper_end.h"

#include <sys/wait.h>

#include "mu/sys.h"

/* How long the end of a sweeper that was killed may take. */
#define REAP_NS (10 * MU_NS_PER_SEC)

/*
 * In a memory group that is nearly full it is asked to give its memory back by
 * itself before it is killed. A process that is being killed has its memory
 * still, and the OOM killer does not count it any more (oom_badness() in
 * mm/oom_kill.c: no task->mm): it would take the program.
 */
#define DROP_NS (MU_NS_PER_SEC / 2)

/*
 * To tear an image down takes some 30 ms a gigabyte. A pidfd would tell of the
 * end at once, and be a descriptor that the program did not open. The pipe
 * tells nearly as soon: do_exit() closes the descriptors behind the memory and
 * shortly before it notifies the parent. A child that another thread forked
 * may hold the write end: then there is no end of file, and only these naps.
 */
#define FIRST_NAP_NS (20 * 1000ull)
#define LONGEST_NAP_NS (1000 * 1000ull)

/* How long no nap is worth it once the pipe was closed. */
#define CLOSED_NS (50 * 1000ull)

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

/* Until the pipe is closed, or for NAP ns. */
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
 * Let some time pass, 1 ms or so at most. CLOSED_NS: when the pipe was seen to
 * be closed; 0: not yet.
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
	bool killed = false, asked = !sweeper->room.tight;

	while (!mu_sweeper_ended(sweeper)) {
		if (mu_sys_now_ns() >= deadline_ns) {
			/* It cannot be waited for: it is a zombie by now. */
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
