/*
 * One run of a COMMAND, as its parts know it: see command.h.
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
#include "lib/command/report.h"
#include "lib/command/trace.h"

struct mu_command_run {
	const struct mu_command *command;
	const struct mu_cli_options *options;
	struct mu_command_end *end;
	struct mu_command_report report;
	struct mu_trace trace;
	pid_t pid;
	bool outside; /* no library goes into it: it has to be traced */
	struct mu_why outside_why;
	bool traced;  /* otherwise its library reports alone */
	bool ended;   /* the command itself has */
	bool checked; /* and there is an answer of it */
	char path[PATH_MAX], library[PATH_MAX];
	char recorder[PATH_MAX];   /* "": not asked for */
	char program[PATH_MAX];    /* that it was at its end; "": not known */
	sigset_t before;           /* signals that were blocked */
	struct sigaction on_child; /* and what SIGCHLD did */
};

/* lib/command/start.c: find the files, before anything is started. */
enum mu_status mu_command_prepare(
    struct mu_command_run *run, struct mu_why *why);

/*
 * Start it, traced if that is possible; run->trace has its callbacks. MU_OK:
 * run->pid is the command now.
 */
enum mu_status mu_command_start(struct mu_command_run *run, struct mu_why *why);

/*
 * lib/command/wait.c: block the signals that are handed on, before the
 * start; then wait for the end, serving tracees, signals and reports.
 */
void mu_command_take_signals(struct mu_command_run *run);
void mu_command_await_end(struct mu_command_run *run);

#endif
