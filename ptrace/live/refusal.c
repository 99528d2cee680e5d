/*
 * The kernel's checks, in ptrace_attach() and __ptrace_may_access(), all say
 * EPERM: traced already; user and group ids; dumpable; then security modules,
 * Yama among them. A seccomp filter comes before all of them and may use any
 * errno.
 */
#include "ptrace/live/refusal.h"

#include <errno.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/stat.h>

#include "mu/procfs.h"
#include "mu/sys.h"
#include "mu/text.h"
#include "ptrace/live/proc.h"

#define CAP_PTRACE 19 /* CAP_SYS_PTRACE */
#define CAPS_FILES 6  /* CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH */
#define YAMA_SCOPE "/proc/sys/kernel/yama/ptrace_scope"

/* __ptrace_may_access() compares all three group ids with our real one. */
static bool
has_group(const char *status, int64_t group)
{
	int i;

	for (i = 0; i < 3; i++)
		if (mu_proc_status_number(status, "\nGid:", i, 10) != group)
			return false;
	return true;
}

/* What the target has and we have not: OURS and THEIRS are texts of status. */
static void
compare_rights(
    struct mu_refusal_facts *facts, const char *ours, const char *theirs)
{
	int64_t have = mu_proc_status_number(ours, "\nCapEff:", 0, 16);

	if (have < 0)
		return;
	facts->sys_ptrace = (int)(have >> CAP_PTRACE & 1);
	if (facts->target_uid < 0)
		return;
	facts->files_refused =
	    facts->uid != facts->target_uid && (have & CAPS_FILES) == 0;
	facts->other_groups =
	    !has_group(theirs, mu_proc_status_number(ours, "\nGid:", 0, 10));
	/* cap_ptrace_access_check() */
	facts->more_rights =
	    (mu_proc_status_number(theirs, "\nCapPrm:", 0, 16) &
		~mu_proc_status_number(ours, "\nCapPrm:", 0, 16)) != 0;
}

static void
read_target(struct mu_refusal_facts *facts, const char *status)
{
	char path[32];
	int64_t tracer;
	ssize_t n;

	facts->target_uid = (int)mu_proc_status_number(status, "\nUid:", 1, 10);
	tracer = mu_proc_status_number(status, "\nTracerPid:", 0, 10);
	if (tracer <= 0 || tracer == mu_sys_getpid()) /* it is us */
		return;
	facts->tracer = (pid_t)tracer;
	mu_text_format(path, sizeof(path), "/proc/%d/comm", facts->tracer);
	n = mu_procfs_read(
	    path, facts->tracer_name, sizeof(facts->tracer_name));
	if (n <= 0)
		facts->tracer_name[0] = '\0';
	else if (facts->tracer_name[n - 1] == '\n')
		facts->tracer_name[n - 1] = '\0';
}

/*
 * task_dump_owner(): files of a process that is not dumpable belong to root.
 * That tells nothing about root's own processes. PR_GET_DUMPABLE is about our
 * memory, which the collector shares with its parent; 2 (suidsafe) is no more
 * open to ptrace than 0.
 */
static int
read_dumpable(const struct mu_refusal_facts *facts)
{
	struct stat stat = { 0 };
	char path[32];
	const char *at = path;
	int dir;

	if (mu_sys0(SYS_getppid) == facts->pid)
		return mu_sys1(SYS_prctl, PR_GET_DUMPABLE) == 1;
	mu_text_format(path, sizeof(path), "/proc/%d/status", facts->pid);
	dir = mu_procfs_at(&at);
	if (facts->target_uid <= 0 ||
	    mu_sys4(SYS_newfstatat, dir, (long)at, (long)&stat, 0) < 0)
		return -1;
	return stat.st_uid != 0;
}

static int
read_yama_scope(void)
{
	uint64_t scope;

	if (!mu_proc_read_number(YAMA_SCOPE, 10, &scope) || scope > 3)
		return -1;
	return (int)scope;
}

/*
 * Without a filter the kernel first looks for the thread and does not find it.
 * A thread of our own thread group would be refused with EPERM whatever our
 * rights are.
 */
static void
probe_call(struct mu_refusal_facts *facts)
{
	long error = mu_sys_ptrace(PTRACE_SEIZE, MU_REFUSAL_NO_TID, 0, 0);

	facts->call_refused = error != -ESRCH;
	if (!facts->call_refused) {
		error = mu_sys_ptrace(PTRACE_SEIZE, mu_sys_gettid(), 0, 0);
		facts->call_refused = error != -EPERM;
	}
	facts->probe_error = (int)-error;
}

static enum mu_status
judge_tracer(const struct mu_refusal_facts *facts, struct mu_why *why)
{
	if (facts->tracer_name[0] == '\0')
		return mu_why(why, MU_ERR_ALREADY_TRACED,
		    "process %d is already traced by %d" MU_CURE "detach that",
		    facts->pid, facts->tracer);
	return mu_why(why, MU_ERR_ALREADY_TRACED,
	    "process %d is already traced by %d (%s)" MU_CURE "detach that",
	    facts->pid, facts->tracer, facts->tracer_name);
}

static enum mu_status
judge_yama(const struct mu_refusal_facts *facts, struct mu_why *why)
{
	if (facts->yama_scope == 1)
		return mu_why(why, MU_ERR_PTRACE_YAMA,
		    "Yama refuses ptrace (ptrace_scope 1)" MU_CURE
		    "let process %d call"
		    " prctl(PR_SET_PTRACER), set kernel.yama.ptrace_scope=0,"
		    " or give us CAP_SYS_PTRACE",
		    facts->pid);
	if (facts->yama_scope == 2)
		return mu_why(why, MU_ERR_PTRACE_YAMA,
		    "Yama refuses ptrace (ptrace_scope 2)" MU_CURE "give us"
		    " CAP_SYS_PTRACE, or set kernel.yama.ptrace_scope=0");
	return mu_why(why, MU_ERR_PTRACE_YAMA,
	    "Yama refuses ptrace until the next boot (ptrace_scope 3)" MU_CURE
	    "boot"
	    " with kernel.yama.ptrace_scope=0");
}

/* The user is right, or CAP_SYS_PTRACE is there. */
static enum mu_status
judge_rights(const struct mu_refusal_facts *facts, struct mu_why *why)
{
	if (facts->files_refused == 1 && facts->error == EACCES)
		return mu_why(why, MU_ERR_NO_PERMISSION,
		    "files of process %d belong to user %d" MU_CURE "give us"
		    " CAP_SETUID and CAP_SETGID, or CAP_DAC_READ_SEARCH",
		    facts->pid, facts->target_uid);
	if (facts->sys_ptrace == 0 && facts->other_groups == 1)
		return mu_why(why, MU_ERR_NO_PERMISSION,
		    "process %d has other group ids" MU_CURE
		    "run with its ids or CAP_SYS_PTRACE",
		    facts->pid);
	if (facts->sys_ptrace == 0 && facts->more_rights == 1)
		return mu_why(why, MU_ERR_NO_PERMISSION,
		    "process %d has capabilities that we have not" MU_CURE
		    "run with these or CAP_SYS_PTRACE",
		    facts->pid);
	return mu_why(why, MU_ERR_NO_PERMISSION,
	    "ptrace of thread %d is refused (error %d): look for SELinux,"
	    " AppArmor, another user namespace, a tracer outside",
	    facts->tid, facts->error);
}

enum mu_status
mu_refusal_explain(const struct mu_refusal_facts *facts, struct mu_why *why)
{
	if (facts->call_refused)
		return mu_why(why, MU_ERR_PTRACE_SECCOMP,
		    "a seccomp filter or sandbox refuses ptrace (error %d)" MU_CURE
		    "allow it, in a container by --cap-add SYS_PTRACE",
		    facts->probe_error);
	if (facts->tracer != 0)
		return judge_tracer(facts, why);
	if (facts->yama_scope == 3)
		return judge_yama(facts, why);
	if (facts->sys_ptrace != 1 && facts->uid >= 0 &&
	    facts->target_uid >= 0 && facts->uid != facts->target_uid)
		return mu_why(why, MU_ERR_NO_PERMISSION,
		    "process %d is of user %d, we are user %d" MU_CURE
		    "run as that"
		    " user or with CAP_SYS_PTRACE",
		    facts->pid, facts->target_uid, facts->uid);
	if (facts->sys_ptrace != 1 && facts->dumpable == 0)
		return mu_why(why, MU_ERR_NOT_DUMPABLE,
		    "process %d is not dumpable (PR_SET_DUMPABLE 0, or"
		    " setuid)" MU_CURE
		    "set it dumpable for the check, or run as root",
		    facts->pid);
	if (facts->sys_ptrace != 1 && facts->yama_scope > 0)
		return judge_yama(facts, why);
	return judge_rights(facts, why);
}

void
mu_refusal_facts_read(struct mu_refusal_facts *facts)
{
	char ours[MU_PROC_STATUS_SIZE], theirs[MU_PROC_STATUS_SIZE] = "";

	facts->uid = facts->target_uid = facts->sys_ptrace = -1;
	facts->files_refused = facts->other_groups = facts->more_rights = -1;
	if (mu_proc_status_read(
		facts->pid, facts->tid, theirs, sizeof(theirs)) >= 0)
		read_target(facts, theirs);
	if (mu_proc_own_status(ours, sizeof(ours)) >= 0) {
		facts->uid = (int)mu_proc_status_number(ours, "\nUid:", 1, 10);
		compare_rights(facts, ours, theirs);
	}
	facts->dumpable = read_dumpable(facts);
	facts->yama_scope = read_yama_scope();
}

enum mu_status
mu_refusal(pid_t pid, pid_t tid, int error, struct mu_why *why)
{
	struct mu_refusal_facts facts = {
		.pid = pid,
		.tid = tid,
		.error = error,
	};

	mu_refusal_facts_read(&facts);
	probe_call(&facts);
	return mu_refusal_explain(&facts, why);
}

enum mu_status
mu_refusal_of_call(struct mu_why *why)
{
	struct mu_refusal_facts facts = { 0 };

	probe_call(&facts);
	return facts.call_refused ? mu_refusal_explain(&facts, why) : MU_OK;
}

enum mu_status
mu_refusal_by_tracer(struct mu_why *why)
{
	struct mu_refusal_facts facts = {
		.pid = mu_sys_getpid(),
		.tid = mu_sys_gettid(),
	};
	char status[MU_PROC_STATUS_SIZE];

	if (mu_proc_status_read(facts.pid, facts.tid, status, sizeof(status)) >=
	    0)
		read_target(&facts, status);
	return facts.tracer == 0 ? MU_OK : judge_tracer(&facts, why);
}

enum mu_status
mu_refusal_by_sigsys(struct mu_why *why)
{
	return mu_why(why, MU_ERR_PTRACE_SECCOMP,
	    "a seccomp filter kills a process that calls ptrace" MU_CURE
	    "let it refuse with an"
	    " error, or allow it");
}
