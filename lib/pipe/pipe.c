#include "lib/pipe/pipe.h"

#include <sys/ioctl.h>

#include "lib/state/sweeper_end.h"
#include "mu/sys.h"

/*
 * Poll interval at which a silent pipe makes us check that the sweeper is
 * alive.
 */
#define POLL_NS (50 * 1000 * 1000ull)

bool
mu_pipe_write(int fd, const void *data, size_t size)
{
	const char *p = data;
	ssize_t n;

	while (size > 0) {
		n = mu_sys_write(fd, p, size);
		if (n == -EINTR)
			continue;
		if (n <= 0)
			return false;
		p += n;
		size -= (size_t)n;
	}
	return true;
}

/*
 * The pipe is closed when the sweeper dies: its wait status comes a little
 * later.
 */
static enum mu_status
sweeper_died(struct mu_sweeper *sweeper, struct mu_why *why)
{
	int status;

	mu_sweeper_reap(sweeper, sweeper->deadline_ns);
	status = sweeper->status;
	if (sweeper->budget.tight && WIFSIGNALED(status) &&
	    WTERMSIG(status) == SIGKILL)
		return mu_copy_budget_refuse(&sweeper->budget, why);
	return mu_why_died(why, "the sweeper", status);
}

/*
 * Used if ppoll() is refused: by a filter, or because RLIMIT_NOFILE became 0.
 */
static bool
has_data(int fd)
{
	int bytes = 0;

	return mu_sys3(SYS_ioctl, fd, FIONREAD, (long)&bytes) == 0 && bytes > 0;
}

/* The time until the room must be checked again. */
static struct timespec
next_look(const struct mu_sweeper *sweeper)
{
	uint64_t now = mu_sys_now_ns(), nap_ns = 0;

	if (sweeper->budget.next_ns > now)
		nap_ns = sweeper->budget.next_ns - now;
	return mu_sys_timespec(nap_ns < POLL_NS ? nap_ns : POLL_NS);
}

/* Wait until FD can be read. MU_OK, or why that will not happen. */
static enum mu_status
await_data(struct mu_sweeper *sweeper, struct mu_why *why)
{
	struct pollfd wait = { .fd = sweeper->pipe_read, .events = POLLIN };
	struct timespec span;
	bool ended = false;
	long n;

	for (;;) {
		if (mu_copy_budget_is_short(&sweeper->budget))
			return mu_copy_budget_refuse(&sweeper->budget, why);
		/*
		 * Reset each time: the raw call stores the remaining time in
		 * it.
		 */
		span = next_look(sweeper);
		n = mu_syscall6(
		    SYS_ppoll, (long)&wait, 1, (long)&span, 0, 0, 0);
		if (n > 0)
			return MU_OK; /* data, or end of file */
		if (n < 0 && n != -EINTR && has_data(sweeper->pipe_read))
			return MU_OK;
		if (n < 0 && n != -EINTR)
			mu_sys_sleep_ns(MU_NS_PER_SEC / 1000);
		/*
		 * A child that another thread forked may hold the write end, so
		 * that there is no end of file. What a dead sweeper has sent
		 * was read before.
		 */
		if (ended)
			return sweeper_died(sweeper, why);
		if (mu_sys_now_ns() >= sweeper->deadline_ns)
			return mu_why(why, MU_ERR_TIMEOUT,
			    "the sweeper did not finish in time");
		ended = mu_sweeper_ended(sweeper);
	}
}

enum mu_status
mu_pipe_read(
    struct mu_sweeper *sweeper, void *data, size_t size, struct mu_why *why)
{
	enum mu_status status;
	char *p = data;
	ssize_t n;

	while (size > 0) {
		status = sweeper->answered ? MU_OK : await_data(sweeper, why);
		if (status != MU_OK)
			return status;
		n = mu_sys_read(sweeper->pipe_read, p, size);
		if ((n == -EINTR || n == -EAGAIN) &&
		    mu_sys_now_ns() < sweeper->deadline_ns)
			continue;
		if (n < 0)
			return mu_why(why, mu_status_from_errno((int)-n),
			    "cannot read the sweeper's answer (errno %ld)",
			    (long)-n);
		if (n == 0)
			return sweeper_died(sweeper, why);
		p += n;
		size -= (size_t)n;
	}
	return MU_OK;
}

enum mu_status
mu_pipe_damaged(struct mu_why *why)
{
	return mu_why(
	    why, MU_ERR_HELPER_DIED, "the sweeper's answer is damaged");
}
