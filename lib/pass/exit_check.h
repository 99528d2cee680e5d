/*
 * The check of this process at its end, by the option at_exit.
 *
 * Runs in: original, in the thread that ends the process.
 */
#ifndef LIB_PASS_EXIT_CHECK_H
#define LIB_PASS_EXIT_CHECK_H

#include "lib/state/caller.h"
#include "lib/state/options.h"

/*
 * True if OPTIONS apply to this process. A child inherits the environment and,
 * by fork(), the exit handlers.
 */
bool mu_exit_check_concerns(const struct mu_options *options);

/* True if a command waits for the answer of the check. */
bool mu_exit_check_answers(const struct mu_options *options);

/*
 * The program is about to add a seccomp filter that may kill it for what a
 * check calls: say that there will be none. Later nothing could be said.
 */
void mu_exit_check_foresee(void);

/* The calling thread is in exit(). Ends the program by exit() with leaks. */
void mu_exit_check_at_exit(void);

/*
 * An on_exit() handler, called after the one above: "not checked" changes the
 * status of a success only. Waits for the check of another thread.
 */
void mu_exit_check_status(int status, void *unused);

/* The calling thread is in quick_exit(): mu_exit_check_calls(). */
void mu_exit_check_at_quick_exit(void);

/* Called after that one. Waits for the check of another thread. */
void mu_exit_check_quick_exit_waits(void);

/*
 * CALLER, the calling thread, ends the process by _exit() if LAST, else by
 * quick_exit(), maybe in a signal handler or in a child of vfork(). A command
 * that traces the process checks it after that, but cannot stop malloc first.
 * With other threads the check is therefore made here, if the command stops
 * them. It waits for malloc for a second, or longer if the other threads hardly
 * run; the calling thread may have interrupted it.
 *
 * If LAST, no signal handler runs here any more, and the other threads do not
 * go on behind the stop, so that the program ends as it would without a check.
 */
void mu_exit_check_calls(const struct mu_caller *caller, bool last);

#endif
