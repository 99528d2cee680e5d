/*
 * Which subject a command line is about: one, and one only.
 *
 * Pure.
 */
#ifndef LIB_CLI_SUBJECT_H
#define LIB_CLI_SUBJECT_H

#include "lib/cli/options.h"
#include "mu/text.h"

/*
 * Fill in the subject of OPTIONS by what is given in it; DOCTOR: --doctor is,
 * with a PID or without. MU_ERR_ARGUMENT: there is none, or more than one, or
 * something of it is missing.
 */
enum mu_status mu_cli_subject_choose(
    struct mu_cli_options *options, bool doctor, struct mu_why *why);

/* "-p PID or --core FILE": those whose bits, 1 << subject, are in SUBJECTS. */
void mu_cli_subject_words(struct mu_text *text, unsigned subjects);

#endif
