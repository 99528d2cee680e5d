/* --doctor: may the process be checked? Pure. */
#include "lib/doctor/facts.h"
#include "lib/doctor/findings.h"
#include "lib/helpers/copy_pause.h"
#include "mu/sys.h"
#include "ptrace/live/pause.h"

/* Returns false if there is no process to examine. */
static bool
check_presence(
    const struct mu_doctor_target *target, struct mu_findings *findings)
{
	int pid = target->pid;

	if (target->is_hidden)
		mu_finding_add(findings, MU_BLOCKER, "process",
		    "process %d is hidden from us (/proc has hidepid); run as "
		    "its user or as root",
		    pid);
	else if (!target->is_there)
		mu_finding_add(findings, MU_BLOCKER, "process",
		    "there is no process %d; look with ps or pgrep", pid);
	else if (target->is_kernel)
		mu_finding_add(findings, MU_BLOCKER, "process",
		    "process %d (%s) is a thread of the kernel: it has no heap",
		    pid, target->name);
	else if (target->state == 'Z' || target->state == 'X')
		mu_finding_add(findings, MU_BLOCKER, "process",
		    "process %d (%s) has ended and waits for its parent: there "
		    "is no memory left",
		    pid, target->name);
	else if (target->process > 0 && target->process != pid)
		mu_finding_add(findings, MU_BLOCKER, "process",
		    "%d (%s) is a thread of process %d; ask for that", pid,
		    target->name, target->process);
	else {
		mu_finding_add(findings, MU_FINE, "process",
		    "process %d (%s) has %zu thread%s", pid, target->name,
		    target->threads, target->threads == 1 ? "" : "s");
		return true;
	}
	return false;
}

/*
 * True if the ids differ: __ptrace_may_access() compares all of the target's
 * with ours.
 */
static bool
is_mixed(const int ids[4])
{
	return ids[0] >= 0 && (ids[0] != ids[1] || ids[0] != ids[2]);
}

static void
check_refused(
    const struct mu_doctor_target *target, struct mu_findings *findings)
{
	struct mu_refusal_facts refusal = target->refusal;
	struct mu_why why;

	refusal.tracer = 0; /* reported separately */
	if (refusal.sys_ptrace == 1 && target->other_user_namespace)
		mu_finding_add(findings, MU_BLOCKER, "permission",
		    "process %d is in another user namespace, where our "
		    "capabilities do not count; run outside of the container",
		    target->pid);
	else if (refusal.sys_ptrace != 1 && refusal.uid == refusal.target_uid &&
	    (is_mixed(target->ids[0]) || is_mixed(target->ids[1]) ||
		target->ids[1][1] != target->our_gid))
		mu_finding_add(findings, MU_BLOCKER, "permission",
		    "process %d has other user or group ids besides (users %d "
		    "%d %d, groups %d %d %d); run as root",
		    target->pid, target->ids[0][0], target->ids[0][1],
		    target->ids[0][2], target->ids[1][0], target->ids[1][1],
		    target->ids[1][2]);
	else {
		mu_refusal_explain(&refusal, &why);
		mu_finding_add(
		    findings, MU_BLOCKER, "permission", "%s", why.text);
	}
}

static void
check_permission(const struct mu_doctor_machine *machine,
    const struct mu_doctor_target *target, struct mu_findings *findings)
{
	struct mu_why why;

	if (target->refusal.tracer != 0) {
		mu_refusal_explain(&target->refusal, &why);
		mu_finding_add(findings, MU_BLOCKER, "tracer", "%s", why.text);
	}
	if (target->mem_error != 0)
		check_refused(target, findings);
	else if (machine->call == MU_OK)
		mu_finding_add(findings, MU_FINE, "permission",
		    "we may stop and read process %d", target->pid);
}

/* We have the same rights as a check: see lib/check/privsep.h. */
static void
check_rights(
    const struct mu_doctor_target *target, struct mu_findings *findings)
{
	if (target->mem_error != 0)
		return;
	if (target->rights_kept)
		mu_finding_add(findings, MU_WARNING, "rights",
		    "we have rights that process %d does not have, and need them to "
		    "look at it: no copy of it can be made; its memory is read "
		    "while it is stopped, which takes longer",
		    target->pid);
	else
		mu_finding_add(findings, MU_FINE, "rights",
		    "a check has the rights of process %d: user %d, %s",
		    target->pid, target->ids[0][1],
		    target->capable ? "no more capabilities than it has"
				    : "no capabilities");
}

#define ASLEEP_FOR                                                   \
	", for a disk, a network file system or a vfork()ed child, " \
	"and cannot be stopped"

/* In a cgroup of version 1 all threads are in uninterruptible sleep. */
static void
check_frozen(
    const struct mu_doctor_target *target, struct mu_findings *findings)
{
	bool asleep = target->sleeping > 0;

	mu_finding_add(findings, asleep ? MU_BLOCKER : MU_WARNING, "frozen",
	    "process %d is frozen by its cgroup, as by docker pause: %s",
	    target->pid,
	    asleep ? "it cannot be stopped; let it run"
		   : "no copy of it can be made; its memory is read");
}

static void
check_state(const struct mu_doctor_target *target, struct mu_findings *findings)
{
	if (target->is_frozen)
		check_frozen(target, findings);
	else if (target->sleeping >= target->threads ||
	    target->sleeping > MU_ASLEEP_MAX)
		mu_finding_add(findings, MU_BLOCKER, "sleep",
		    "%zu of %zu threads %s in uninterruptible sleep" ASLEEP_FOR
		    "; ask again later",
		    target->sleeping, target->threads,
		    target->sleeping == 1 ? "is" : "are");
	else if (target->sleeping > 0)
		mu_finding_add(findings, MU_WARNING, "sleep",
		    "%zu of %zu threads %s in uninterruptible sleep" ASLEEP_FOR
		    ": an answer that finds leaks is partial",
		    target->sleeping, target->threads,
		    target->sleeping == 1 ? "is" : "are");
	else if (target->state == 'T')
		mu_finding_add(findings, MU_FINE, "sleep",
		    "process %d is stopped by a signal; it can be checked, and "
		    "stays stopped",
		    target->pid);
	if (target->ended_calls > 0)
		mu_finding_add(findings, MU_FINE, "calls",
		    "%zu thread%s in epoll_wait(2) or another call that ends "
		    "with EINTR when a check stops it: see \"What the program "
		    "can notice\" in memunreachable(7)",
		    target->ended_calls,
		    target->ended_calls == 1 ? " is" : "s are");
	if (target->seccomp > 0)
		mu_finding_add(findings, MU_WARNING, "seccomp",
		    "process %d has a seccomp %s: no copy of it can be made; "
		    "its memory is read while it is stopped, which takes "
		    "longer",
		    target->pid, target->seccomp == 1 ? "sandbox" : "filter");
	if (target->other_pid_namespace || target->other_user_namespace)
		mu_finding_add(findings, MU_FINE, "namespaces",
		    "process %d is in another %s namespace; its files are "
		    "found through /proc/%d/root",
		    target->pid, target->other_pid_namespace ? "PID" : "user",
		    target->pid);
}

static void
check_memory(const struct mu_doctor_machine *machine,
    const struct mu_doctor_target *target, struct mu_findings *findings)
{
	if (machine->commit_strict && target->data > machine->commit_left)
		mu_finding_add(findings, MU_WARNING, "copy",
		    "no copy of process %d fits what the kernel promises "
		    "(vm.overcommit_memory 2); it is read while it is stopped; "
		    "set vm.overcommit_memory=0",
		    target->pid);
	else if (target->has_room != MU_OK)
		mu_finding_add(findings, MU_WARNING, "copy",
		    "no copy of process %d is made: %s; it is read while it is"
		    " stopped, which takes longer",
		    target->pid, target->room_why.text);
	else if (target->fork_waits)
		mu_finding_add(findings, MU_WARNING, "copy",
		    "no copy of process %d is made, as a fork of it may wait"
		    " for a userfaultfd that watches its memory; it is read"
		    " while it is stopped, which takes longer",
		    target->pid);
	else if (target->tight)
		mu_finding_add(findings, MU_WARNING, "copy",
		    "process %d has %zu MiB of memory left, and a copy of it"
		    " needs up to %zu MiB, if it writes to all of its memory: then"
		    " the copy is given up, and the process is read while it is"
		    " stopped; check at a quiet time",
		    target->pid, (size_t)(target->left >> 20),
		    (size_t)(target->need >> 20));
	else
		mu_finding_add(findings, MU_FINE, "copy",
		    "process %d has %zu MiB resident", target->pid,
		    (size_t)(target->resident >> 20));
}

/* If no copy can be made, all of the memory is read during the stop. */
static bool
is_read(const struct mu_doctor_machine *machine,
    const struct mu_doctor_target *target)
{
	return target->seccomp > 0 || target->rights_kept ||
	    target->has_room != MU_OK || target->fork_waits ||
	    (machine->commit_strict && target->data > machine->commit_left);
}

static void
add_fine_pause(const struct mu_doctor_target *target, uint64_t ns,
    struct mu_findings *findings)
{
	mu_finding_add(findings, MU_FINE, "pause",
	    "a check stops process %d for about %zu ms; no longer than"
	    " %zu (--max-pause)",
	    target->pid, (size_t)(ns / 1000000),
	    (size_t)(target->max_pause_ns / 1000000));
}

/* What a copy does not have is read as far as time permits. */
static void
check_dontfork(
    const struct mu_doctor_target *target, struct mu_findings *findings)
{
	uint64_t dontfork = target->forked.dontfork, ns = target->copy_ns;
	uint64_t large = target->forked.dontfork_large, read_ns;

	if (dontfork == 0)
		return;
	read_ns = mu_pause_ns(dontfork - large) + mu_pause_sifted_ns(large);
	if (ns + 2 * read_ns > target->max_pause_ns)
		mu_finding_add(findings, MU_WARNING, "left out",
		    "%zu MiB of process %d are not in a copy (MADV_DONTFORK):"
		    " what a stop has no time to read is read while it changes,"
		    " and an answer that finds leaks is partial;"
		    " --max-pause=%zus reads all",
		    (size_t)(dontfork >> 20), target->pid,
		    (size_t)((ns + 4 * read_ns) / MU_NS_PER_SEC) + 1);
	else
		mu_finding_add(findings, MU_FINE, "left out",
		    "%zu MiB of process %d are not in a copy (MADV_DONTFORK),"
		    " and are read during the stop",
		    (size_t)(dontfork >> 20), target->pid);
}

/*
 * The keeper decides in the same way: foresee() in lib/helpers/keeper_body.c.
 */
static void
check_pause(const struct mu_doctor_machine *machine,
    const struct mu_doctor_target *target, struct mu_findings *findings)
{
	uint64_t most = target->max_pause_ns, read_ns;
	uint64_t copy_ns = target->copy_ns + mu_copy_pause_beside(most);
	struct mu_why why;

	read_ns = mu_pause_read_ns(target->held, target->mappings);
	if (!is_read(machine, target) && copy_ns <= most) {
		add_fine_pause(target, target->copy_ns, findings);
		check_dontfork(target, findings);
		return;
	}
	if (read_ns <= most) {
		add_fine_pause(target, read_ns, findings);
		return;
	}
	if (is_read(machine, target))
		mu_pause_too_long(target->pid, target->held, 2 * read_ns, &why);
	else
		mu_pause_too_long(target->pid, 0, copy_ns, &why);
	mu_finding_add(findings, MU_BLOCKER, "pause",
	    "%s (%zu threads, %zu mappings, %zu MiB)", why.text,
	    target->threads, target->mappings,
	    (size_t)(target->resident >> 20));
}

void
mu_doctor_check_target(const struct mu_doctor_machine *machine,
    const struct mu_doctor_target *target, struct mu_findings *findings)
{
	if (!check_presence(target, findings))
		return;
	check_permission(machine, target, findings);
	check_rights(target, findings);
	check_state(target, findings);
	check_memory(machine, target, findings);
	check_pause(machine, target, findings);
	mu_doctor_check_files(machine, target, findings);
}
