#include "lib/pass/filters.h"

#include <errno.h>
#include <linux/capability.h>
#include <sys/prctl.h>

#include "mu/sys.h"
#include "ptrace/live/proc.h"

static long
ask(long option, long argument)
{
	return mu_syscall6(SYS_prctl, option, argument, 0, 0, 0, 0);
}

/*
 * A filter can be added with no_new_privs, which cannot be taken back and which
 * a filter for all threads sets for each of them, or with CAP_SYS_ADMIN
 * (seccomp(2)). A new user namespace gives that together with a full bounding
 * set.
 */
static bool
may_add(void)
{
	return ask(PR_GET_NO_NEW_PRIVS, 0) != 0 ||
	    ask(PR_CAPBSET_READ, CAP_SYS_ADMIN) != 0;
}

static int64_t
count_in(const char *status)
{
	return mu_proc_status_number(status, "\nSeccomp_filters:", 0, 10);
}

void
mu_filters_note(struct mu_filters *filters, pid_t tracer)
{
	const uint64_t admin = (uint64_t)1 << CAP_SYS_ADMIN;
	char status[MU_PROC_STATUS_SIZE];
	int64_t permitted;

	if (ask(PR_GET_SECCOMP, 0) <= 0)
		return;
	mu_proc_own_status(status, sizeof(status));
	filters->begun = count_in(status);
	permitted = mu_proc_status_number(status, "\nCapPrm:", 0, 16);
	filters->fixed = permitted >= 0 && ((uint64_t)permitted & admin) == 0 &&
	    !may_add() && filters->begun > 0 &&
	    mu_proc_status_read(tracer, 0, status, sizeof(status)) > 0 &&
	    count_in(status) == filters->begun;
}

/* -EINVAL: the kernel has no seccomp. */
bool
mu_filters_permit(const struct mu_filters *filters, bool surely)
{
	char status[MU_PROC_STATUS_SIZE];
	long mode = ask(PR_GET_SECCOMP, 0);

	if (mode == 0 || mode == -EINVAL)
		return true;
	if (filters->fixed && !may_add())
		return true;
	if (surely || filters->begun == 0)
		return false;
	mu_proc_own_status(status, sizeof(status));
	return count_in(status) == filters->begun;
}
