#include "lib/pass/filters.h"

#include <errno.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/kcmp.h>
#include <linux/seccomp.h>
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
	long mode;

	if (mu_filters_may_kill(filters))
		return false;
	mode = ask(PR_GET_SECCOMP, 0);
	if (mode == 0 || mode == -EINVAL)
		return true;
	if (filters->fixed && !may_add())
		return true;
	if (surely || filters->begun == 0)
		return false;
	mu_proc_own_status(status, sizeof(status));
	return count_in(status) == filters->begun;
}

/* A child of vfork(), whose filter is not its parent's. */
static bool
is_child_in_our_memory(void)
{
	return mu_sys4(SYS_kcmp, mu_sys_getpid(), mu_sys0(SYS_getppid), KCMP_VM,
		   0) == 0;
}

/* By the constants that it returns. */
static bool
is_harmless(const struct sock_filter *code)
{
	if (BPF_CLASS(code->code) != BPF_RET)
		return true;
	if (BPF_RVAL(code->code) != BPF_K)
		return false;
	switch (code->k & SECCOMP_RET_ACTION_FULL) {
	case SECCOMP_RET_ALLOW:
	case SECCOMP_RET_LOG:
	case SECCOMP_RET_ERRNO:
		return true;
	default:
		return false;
	}
}

#define CODES 64 /* read at a time */

static bool
may_kill(const struct mu_filter_added *added)
{
	pid_t pid = mu_sys_getpid();
	struct sock_filter codes[CODES];
	struct sock_fprog head;
	size_t i, k, count;
	ssize_t n;

	if (added->strict)
		return true;
	n = mu_sys_vm_read(pid, &head, sizeof(head), added->program);
	if (n != sizeof(head))
		return n != -EFAULT; /* the kernel cannot read it either */
	for (i = 0; i < head.len; i += count) {
		count = head.len - i < CODES ? head.len - i : CODES;
		n = mu_sys_vm_read(pid, codes, count * sizeof(*codes),
		    (uintptr_t)(head.filter + i));
		if (n != (ssize_t)(count * sizeof(*codes)))
			return n != -EFAULT;
		for (k = 0; k < count; k++)
			if (!is_harmless(&codes[k]))
				return true;
	}
	return false;
}

/* Under a filter that may kill, no more calls are made here. */
bool
mu_filters_add(struct mu_filters *filters, const struct mu_filter_added *added)
{
	bool first = !filters->all && !filters->other;

	if (first && (is_child_in_our_memory() || !may_kill(added)))
		return false;
	if (added->all || mu_arch_tp() == filters->main)
		__atomic_store_n(&filters->all, true, __ATOMIC_RELEASE);
	else
		__atomic_store_n(&filters->other, true, __ATOMIC_RELEASE);
	return first;
}

void
mu_filters_take_back(struct mu_filters *filters)
{
	__atomic_store_n(&filters->all, false, __ATOMIC_RELEASE);
	__atomic_store_n(&filters->other, false, __ATOMIC_RELEASE);
}

/* The first thread was there before any other, and inherits no filter. */
bool
mu_filters_may_kill(const struct mu_filters *filters)
{
	return __atomic_load_n(&filters->all, __ATOMIC_ACQUIRE) ||
	    (__atomic_load_n(&filters->other, __ATOMIC_ACQUIRE) &&
		mu_arch_tp() != filters->main);
}
