/*
 * State of one run of a COMMAND, shared by the files of this folder: see
 * command.h.
 *
 * Runs in: the command, in the thread that traces.
 */
#ifndef LIB_COMMAND_RUN_H
#define LIB_COMMAND_RUN_H

#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

#include "lib/command/command.h"
#include "lib/command/known_functions.h"
#include "lib/command/report.h"
#include "lib/command/trace.h"

struct mu_command_run {
	const struct mu_command *command;
	const struct mu_cli_options *options;
	struct mu_command_end *end;
	struct mu_command_report report;
	struct mu_trace trace;
	struct mu_known_functions known;
	pid_t pid;
	int ask_fd;   /* of a socket: lib/command/forked.h; -1: there is none */
	bool outside; /* no library can be preloaded: it must be traced */
	struct mu_why outside_why;
	bool traced;     /* otherwise only its library reports */
	bool ended;      /* the command itself has ended */
	bool only_found; /* a process that --only-program names */
	bool checked;    /* it has ended with an answer */
	bool told;       /* why there will be none */
	char path[PATH_MAX], library[PATH_MAX];
	char recorder[PATH_MAX];   /* "" if not wanted */
	char program[PATH_MAX];    /* its program at the end; "" if not known */
	sigset_t before;           /* signal mask before the run */
	struct sigaction on_child; /* action of SIGCHLD before the run */
};

/* lib/command/start.c: find the files, before anything is started. */
enum mu_status mu_command_prepare(
    struct mu_command_run *run, struct mu_why *why);

/*
 * Start the command, traced if possible; run->trace has its callbacks. MU_OK:
 * run->pid is the command.
 */
enum mu_status mu_command_start(struct mu_command_run *run, struct mu_why *why);

/*
 * lib/command/wait.c: block the signals that are passed on, before the start;
 * then wait for the end and handle tracees, signals and reports.
 */
void mu_command_take_signals(struct mu_command_run *run);
void mu_command_await_end(struct mu_command_run *run);

#endif
