/*
 * Parse the value of one command-line option.
 *
 * Pure.
 */
#ifndef LIB_CLI_VALUES_H
#define LIB_CLI_VALUES_H

#include "lib/cli/options.h"

/* An option: its letter, or a number that is not a character. */
enum mu_cli_flag {
	MU_CLI_OPT_PID = 'p',
	MU_CLI_OPT_OUTPUT = 'o',
	MU_CLI_OPT_QUIET = 'q',
	MU_CLI_OPT_HELP = 'h',
	MU_CLI_OPT_VERSION = 'V',
	MU_CLI_OPT_CORE = 256,
	MU_CLI_OPT_EXE,
	MU_CLI_OPT_SYSROOT,
	MU_CLI_OPT_DOCTOR,
	MU_CLI_OPT_STOP,
	MU_CLI_OPT_TIMEOUT,
	MU_CLI_OPT_MAX_PAUSE,
	MU_CLI_OPT_LIMIT,
	MU_CLI_OPT_BY,
	MU_CLI_OPT_CONTENTS,
	MU_CLI_OPT_FORMAT,
	MU_CLI_OPT_COLOR,
	MU_CLI_OPT_SIGNAL,
	MU_CLI_OPT_CHILDREN,
	MU_CLI_OPT_UNCHECKED,
	MU_CLI_OPT_CONFIRM,
	MU_CLI_OPT_POINTER_MASK,
	MU_CLI_OPT_USE_UNALIGNED,
	MU_CLI_OPT_USE_GLOBALS,
	MU_CLI_OPT_USE_STACKS,
	MU_CLI_OPT_USE_REGISTERS,
	MU_CLI_OPT_USE_TLS,
	MU_CLI_OPT_USE_ROOT_REGIONS,
	MU_CLI_OPT_BACKTRACE,
	MU_CLI_OPT_BACKTRACE_SIZE,
	MU_CLI_OPT_MAX_MEMORY,
	MU_CLI_OPT_WORKERS,
	MU_CLI_OPT_HEAP_DUMP,
	MU_CLI_OPT_DIFF,
	MU_CLI_OPT_LEAKTRACER,
	MU_CLI_OPT_SYMBOLS,
	MU_CLI_OPT_HTML,
	MU_CLI_OPT_SYMBOLIZE,
	MU_CLI_OPT_RETAINED,
	MU_CLI_OPT_WHY,
	MU_CLI_OPT_ALL,
	MU_CLI_OPT_IN_USE,
	MU_CLI_OPT_EVERY,
	MU_CLI_OPT_DURATION,
	MU_CLI_OPT_COUNT,
	MU_CLI_OPT_CSV,
	MU_CLI_OPT_PROMETHEUS,
	MU_CLI_OPT_ROUND,
	MU_CLI_OPT_ROUNDS,
	MU_CLI_OPT_SAVE,
	MU_CLI_OPT_SINCE,
	MU_CLI_OPT_CORE_OUT,
	MU_CLI_OPT_BASELINE,
	MU_CLI_OPT_WRITE_BASELINE,
	MU_CLI_OPT_UNIT,
	MU_CLI_OPT_SYSLOG,
};

struct mu_cli_value {
	int flag;
	const char *name; /* name of the option, without dashes */
	const char *text; /* NULL if the option has no value */
};

/* MU_OK; or MU_ERR_ARGUMENT, and WHY says what was expected. */
enum mu_status mu_cli_value_take(struct mu_cli_options *options,
    const struct mu_cli_value *value, struct mu_why *why);

#endif
