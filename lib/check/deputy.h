/*
 * A child that looks at a process with no more rights than that process has.
 *
 * A tracer with capabilities can be made to give them away, and what parses the
 * memory and the files of a stranger should hold nothing worth taking. So where
 * we have a right that the process does not have, a child takes on its user,
 * groups, user namespace and capabilities, and looks; we wait, and pass on what
 * it wrote. Not where the kernel then refuses the attach: to a process that is
 * not dumpable, that has several user ids, or under Yama's ptrace_scope 1 and
 * more. There the privileges are kept and no system call is put into the
 * process: see mu_rights_exceed().
 *
 * Runs in: the command, which has one thread.
 */
#ifndef LIB_CHECK_DEPUTY_H
#define LIB_CHECK_DEPUTY_H

#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include "mu/status.h"

/* What is to be done: writes to OUT; an exit status below 100, or -1. */
typedef int mu_deputy_work(void *ctx, FILE *out);

/*
 * Do WORK on process TARGET, in a child if it takes one, and return what it
 * returned, with all that it wrote in OUT. -1 also if the child was killed, or
 * by us, PATIENCE_NS after its start: then WHY says so.
 */
int mu_deputy_run(pid_t target, uint64_t patience_ns, mu_deputy_work *work,
    void *ctx, FILE *out, struct mu_why *why);

#endif
