/*
 * The report files that the library writes in a COMMAND, one per process, in a
 * temporary folder.
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
	char folder[PATH_MAX];          /* "" if there is none */
	char path[PATH_MAX];            /* for the option log_path */
	char answers[PATH_MAX];         /* for the option answer_path */
	struct mu_log_reader own;       /* for the COMMAND's own log */
	struct mu_symbol_helper helper; /* names its frames */
};

/*
 * Make the folder, with mode 0700, in TMPDIR, or in /tmp if that name is too
 * long for a socket in it.
 */
enum mu_status mu_command_report_begin(
    struct mu_command_report *report, struct mu_why *why);

/* 0, or the errno value of why no more can be written there, as to a full disk.
 */
int mu_command_report_room(const struct mu_command_report *report);

/* Write what PID, the COMMAND, has appended since the last call. */
void mu_command_report_show(
    struct mu_command_report *report, pid_t pid, FILE *out);

/*
 * Write the rest of that, then what all other processes wrote. Returns true if
 * the COMMAND has checked itself at its end.
 */
bool mu_command_report_show_all(
    struct mu_command_report *report, pid_t pid, FILE *out);

/* Remove the folder. Accepts a zeroed REPORT. */
void mu_command_report_end(struct mu_command_report *report);

#endif
