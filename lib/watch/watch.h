/*
 * memunreachable watch: look at a process again and again, and say at the end
 * whether it leaks, grows, fragments or is steady.
 *
 * Runs in: the command.
 */
#ifndef LIB_WATCH_WATCH_H
#define LIB_WATCH_WATCH_H

#include "lib/cli/options.h"

/*
 * Watch what OPTIONS say, each look as CHECK says. Returns the exit status
 * (lib/watch/verdict.h), or that of a command that ended by itself, if the
 * watch has none to tell. What went wrong is on standard error.
 */
int mu_watch(
    const struct mu_cli_options *options, const struct mu_check *check);

#endif
