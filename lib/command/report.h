/*
 * What a COMMAND reports: files that the library in it writes, one a process,
 * in a folder of their own.
 */
#ifndef LIB_COMMAND_REPORT_H
#define LIB_COMMAND_REPORT_H

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

#include "lib/command/log_reader.h"
#include "lib/symbolize/helper.h"
#include "mu/status.h"

struct mu_command_report {
	char folder[PATH_MAX];          /* "": none */
	char path[PATH_MAX];            /* for the option log_path */
	char answers[PATH_MAX];         /* for the option answer_path */
	struct mu_log_reader own;       /* of the COMMAND's own log */
	struct mu_symbol_helper helper; /* that its frames are in */
};

/* Make the folder, with mode 0700, below TMPDIR or /tmp. */
enum mu_status mu_command_report_begin(
    struct mu_command_report *report, struct mu_why *why);

/* Write what PID, the COMMAND, has added since the last call. */
void mu_command_report_show(
    struct mu_command_report *report, pid_t pid, FILE *out);

/*
 * The rest of that, then what all other processes wrote. True: the COMMAND has
 * checked itself at its end.
 */
bool mu_command_report_show_all(
    struct mu_command_report *report, pid_t pid, FILE *out);

/* Remove it all. Accepts a zeroed one. */
void mu_command_report_end(struct mu_command_report *report);

#endif
