/*
 * Children by fork() of a command that is traced without its children. Each
 * asks at its end to be traced (lib/pass/forked_end.h), through a socket in the
 * folder of the reports, and is released when it is, or cannot be.
 *
 * Runs in: the command, in the thread that traces.
 */
#ifndef LIB_COMMAND_FORKED_H
#define LIB_COMMAND_FORKED_H

#include "lib/command/run.h"

/*
 * Listen; before the command is started. Where that fails its children are not
 * seen.
 */
void mu_command_forked_open(struct mu_command_run *run);

/* Trace those that have asked. SIGIO comes when there are some. */
void mu_command_forked_take(struct mu_command_run *run);

/* Accepts a RUN that does not listen. */
void mu_command_forked_close(struct mu_command_run *run);

#endif
