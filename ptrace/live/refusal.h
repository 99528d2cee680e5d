/*
 * Why was ptrace refused? EPERM has many causes and each has its own cure.
 *
 * Runs in: collector.
 */
#ifndef PTRACE_LIVE_REFUSAL_H
#define PTRACE_LIVE_REFUSAL_H

#include <stdbool.h>
#include <sys/types.h>

#include "mu/status.h"

#define MU_REFUSAL_NO_TID 0x7fffffff /* larger than PID_MAX_LIMIT, 2^22 */

/*
 * The facts about a refusal; -1 means not known unless a comment says
 * otherwise.
 */
struct mu_refusal_facts {
	pid_t pid, tid;
	int error;            /* positive errno of the refused call */
	pid_t tracer;         /* of the thread; 0 = none */
	char tracer_name[32]; /* "" = not known */
	bool call_refused;    /* ptrace fails even where it cannot reach any
				 process: the call itself is filtered */
	int probe_error;      /* positive errno of that attempt */
	int dumpable;         /* 1: of the target; 0: not */
	int uid, target_uid;  /* effective user ids */
	int sys_ptrace;       /* 1: we have CAP_SYS_PTRACE */
	int files_refused;    /* 1: the target's files are another user's, and
				 no capability opens them to us */
	int other_groups;     /* 1: the target has other group ids than we */
	int more_rights;      /* 1: it has capabilities that we have not */
	int yama_scope;       /* 0..3; -1 = no Yama */
};

/* The cause that the facts show, and its remedy. Pure. */
enum mu_status mu_refusal_explain(
    const struct mu_refusal_facts *facts, struct mu_why *why);

/*
 * Read all facts about PID (set in FACTS, like TID) and about ourselves that
 * /proc shows. Makes no ptrace call. Leaves the other members alone.
 */
void mu_refusal_facts_read(struct mu_refusal_facts *facts);

/*
 * Find out why seizing TID of PID failed with ERROR (a positive errno). Reads
 * /proc/PID/status (TracerPid, Uid, Gid, CapPrm) and its owner, which is root
 * if the process is not dumpable; PR_GET_DUMPABLE if PID is our parent, whose
 * memory we share; our own ids and capabilities; Yama's ptrace_scope; and tries
 * a ptrace call without effects.
 */
enum mu_status mu_refusal(pid_t pid, pid_t tid, int error, struct mu_why *why);

/*
 * MU_OK, or MU_ERR_PTRACE_SECCOMP if ptrace fails even for a process that
 * cannot exist. Call before any thread is seized: a filter that kills the
 * caller then leaves no thread stopped.
 */
enum mu_status mu_refusal_of_call(struct mu_why *why);

/*
 * MU_OK, or MU_ERR_ALREADY_TRACED if the calling thread has a tracer in our PID
 * namespace. Makes no ptrace call. Runs in: original.
 */
enum mu_status mu_refusal_by_tracer(struct mu_why *why);

/* MU_ERR_PTRACE_SECCOMP, for a collector that died of SIGSYS. */
enum mu_status mu_refusal_by_sigsys(struct mu_why *why);

#endif
