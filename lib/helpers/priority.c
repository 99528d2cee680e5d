#include "lib/helpers/priority.h"

#include <sched.h>
#include <sys/resource.h>

#include "mu/sys.h"

#define FIFO_PRIORITY 1
#define FIFO_ABOVE 2
#define NICE_LOWEST (-20)
#define NICE_LIMIT_MAX 40 /* RLIMIT_NICE is 20 minus the nice value */

/* The system call returns 20 minus the nice value. */
static int
get_nice(void)
{
	return 20 - (int)mu_sys2(SYS_getpriority, PRIO_PROCESS, 0);
}

static bool
set_nice(int nice)
{
	return mu_sys3(SYS_setpriority, PRIO_PROCESS, 0, nice) == 0;
}

static bool
set_policy_of(pid_t tid, int policy, int priority)
{
	struct sched_param param = { .sched_priority = priority };

	return mu_sys3(SYS_sched_setscheduler, tid, policy, (long)&param) == 0;
}

static bool
set_policy(int policy, int priority)
{
	return set_policy_of(0, policy, priority);
}

static void
allow(int resource, uint64_t value)
{
	struct rlimit64 limit = { value, value };

	mu_sys4(SYS_prlimit64, 0, resource, (long)&limit, 0);
}

void
mu_priority_allow(void)
{
	allow(RLIMIT_RTPRIO, FIFO_ABOVE);
	allow(RLIMIT_NICE, NICE_LIMIT_MAX);
}

/* If the lowest value is refused, use what RLIMIT_NICE permits. */
static bool
lower_nice(int now)
{
	struct rlimit64 limit = { 0, 0 };
	int nice;

	if (set_nice(NICE_LOWEST))
		return true;
	mu_sys4(SYS_prlimit64, 0, RLIMIT_NICE, 0, (long)&limit);
	if (limit.rlim_cur > NICE_LIMIT_MAX)
		return false;
	nice = 20 - (int)limit.rlim_cur;
	return nice < now && set_nice(nice);
}

/* False: a thread with a higher priority is left alone. */
static bool
note_own(struct mu_priority *priority)
{
	struct sched_param param = { 0 };

	*priority = (struct mu_priority) {
		.policy = (int)mu_sys1(SYS_sched_getscheduler, 0),
		.nice = get_nice(),
	};
	mu_sys2(SYS_sched_getparam, 0, (long)&param);
	priority->rt_priority = param.sched_priority;
	return priority->policy == SCHED_OTHER ||
	    priority->policy == SCHED_BATCH || priority->policy == SCHED_IDLE;
}

/* The flag is not inherited, also by a child that may not drop it. */
static bool
be_real_time(int priority)
{
	return set_policy(SCHED_FIFO | SCHED_RESET_ON_FORK, priority);
}

void
mu_priority_raise(struct mu_priority *priority)
{
	if (note_own(priority))
		priority->raised =
		    be_real_time(FIFO_PRIORITY) || lower_nice(priority->nice);
}

void
mu_priority_raise_above(struct mu_priority *priority)
{
	if (!note_own(priority))
		return;
	priority->above = be_real_time(FIFO_ABOVE);
	priority->raised = priority->above || be_real_time(FIFO_PRIORITY) ||
	    lower_nice(priority->nice);
}

void
mu_priority_boost(const struct mu_priority *priority, pid_t tid)
{
	long policy = mu_sys1(SYS_sched_getscheduler, 0);

	if (priority->raised && priority->policy != SCHED_IDLE && policy >= 0 &&
	    (policy & ~SCHED_RESET_ON_FORK) == SCHED_FIFO)
		set_policy_of(tid, SCHED_FIFO, FIFO_PRIORITY);
}

void
mu_priority_restore(struct mu_priority *priority)
{
	if (!priority->raised)
		return;
	/*
	 * Without rights the flag stays, which does nothing if nothing was
	 * raised.
	 */
	if (!set_policy(priority->policy, priority->rt_priority))
		set_policy(priority->policy | SCHED_RESET_ON_FORK,
		    priority->rt_priority);
	set_nice(priority->nice);
	priority->raised = false;
}

bool
mu_priority_may_be_above(void)
{
	struct mu_priority priority;
	bool above;

	mu_priority_raise_above(&priority);
	above = priority.above;
	mu_priority_restore(&priority);
	return above;
}
