/*
 * The table of command-line options: with which subjects each is valid, and how
 * its value is read.
 *
 * Pure.
 */
#ifndef LIB_CLI_FLAGS_H
#define LIB_CLI_FLAGS_H

#include "lib/cli/options.h"

struct mu_cli_value {
	const struct mu_cli_flag *flag;
	const char *text; /* NULL: none was given */
};

/* An option. */
struct mu_cli_flag {
	const char *name;  /* without dashes */
	int argument;      /* as in struct option */
	unsigned subjects; /* bits 1 << enum mu_cli_subject */
	/*
	 * MU_OK; or MU_ERR_ARGUMENT, and WHY says what was expected. NULL: the
	 * options behind it do not count.
	 */
	enum mu_status (*take)(struct mu_cli_options *options,
	    const struct mu_cli_value *value, struct mu_why *why);
	size_t at;                /* of the member that it sets */
	const char *const *words; /* the values, ended by NULL */
	char letter;
};

#define MU_CLI_NUM_FLAGS 65

/* Ended by one without a name. */
extern const struct mu_cli_flag mu_cli_flags[];

#endif
