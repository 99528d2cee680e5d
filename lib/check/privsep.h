/*
 * A child that checks a process with no more rights than that process has.
 *
 * A tracer with capabilities can be tricked into giving them away, and code
 * that parses memory and files of an untrusted process should have no rights
 * worth stealing. So if we have a right that the process does not have, a child
 * takes on its user, groups, user namespace and capabilities, and does the
 * check; we wait, and pass on its output. If the kernel then refuses the attach
 * (the process is not dumpable, has several user ids, or Yama's ptrace_scope is
 * 1 or more), the privileges are kept, and no system call is made in the
 * process: see mu_rights_exceed().
 *
 * A child does the check also if the process has mapped files whose file system
 * may never answer (lib/check/served_files.h), as it can then not be stopped;
 * and of a core, which names files.
 *
 * Runs in: the command, which has one thread.
 */
#ifndef LIB_CHECK_PRIVSEP_H
#define LIB_CHECK_PRIVSEP_H

#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include "mu/status.h"

/* The work: writes to OUT; returns an exit status below 100, or -1. */
typedef int mu_privsep_work(void *ctx, FILE *out);

/*
 * Do WORK on process TARGET, or on a core (TARGET 0), in a child if necessary.
 * *KEPT and what follows it, up to NULL, are descriptors that the child has,
 * too, perhaps as other numbers, which it finds there; KEPT may be NULL (for a
 * core it keeps all). Returns what WORK returned, with all that it wrote in
 * OUT. Returns -1 with WHY also if the child was killed, perhaps by us: because
 * it waits in the kernel after TIMEOUT_NS, or a minute after twice that time.
 * In the first case it may remain, with what it started, until the file system
 * answers.
 */
int mu_privsep_run(pid_t target, uint64_t timeout_ns, mu_privsep_work *work,
    void *ctx, FILE *out, int *const *kept, struct mu_why *why);

#endif
