/*
 * Parse the command line: GNU long options become one structure.
 *
 * Pure, except for getopt_long()'s own variables, which are reset, and for a
 * word that may be the name of a saved look.
 */
#ifndef LIB_CLI_OPTIONS_H
#define LIB_CLI_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include "lib/check/check.h"
#include "lib/cli/reports.h"
#include "lib/state/options.h"
#include "lib/term/style.h"
#include "lib/watch/subject.h"
#include "lib/writers/writer.h"
#include "mu/status.h"

/* What is checked, or done instead. */
enum mu_cli_subject {
	MU_CLI_NONE,
	MU_CLI_PROCESS, /* -p PID */
	MU_CLI_CORE,    /* --core FILE */
	MU_CLI_COMMAND, /* -- COMMAND */
	MU_CLI_LOOK,    /* a saved look */
	MU_CLI_DOCTOR,
	MU_CLI_HEAP_DUMP,  /* --heap-dump FILE */
	MU_CLI_DIFF,       /* --diff A B */
	MU_CLI_LEAKTRACER, /* --leaktracer FILE */
	MU_CLI_SYMBOLIZE,  /* --symbolize [FILE] */
	MU_CLI_WATCH,      /* watch */
	MU_CLI_HELP,
	MU_CLI_VERSION,
};

/* Of "memunreachable watch". */
struct mu_cli_watch {
	bool wanted;
	struct mu_watch_search search; /* -p NAME, --unit */
	uint64_t every_ms;             /* between looks */
	uint64_t duration_ms;          /* 0: no limit */
	size_t count;                  /* of looks; 0: no limit */
	const char *csv, *prometheus;  /* files; NULL: not given */
	const char *from;              /* of looks; the same */
	bool syslog;
	uint64_t stale_ms; /* 0: not given */
	const char *round; /* for a shell; NULL: not given */
	size_t rounds;
};

/* Strings point into the argument vector. */
struct mu_cli_options {
	enum mu_cli_subject subject;
	pid_t pid; /* for PROCESS and DOCTOR; 0: not given */
	const char *core, *exe, *sysroot, *output; /* NULL: not given */
	const char *look, *save, *since;           /* files; NULL: not given */
	const char *heap_dump, *diff_before, *diff_after, *leaktracer;
	const char *symbols, *html;
	bool symbolize;
	const char *log; /* of SYMBOLIZE; NULL: standard input */
	char **command;  /* ends with NULL */
	enum mu_check_stop stop;
	uint64_t timeout_ms, max_pause_ms;
	size_t limit;
	enum mu_by by;
	bool timeout_given, max_pause_given, limit_given;
	size_t max_memory, workers; /* 0: not given */
	int signal;                 /* 0: none */
	bool contents, quiet, children;
	bool help_all;             /* --help=all */
	struct mu_explain explain; /* --retained, --why, --all, --in-use */
	bool unchecked_ok;         /* --unchecked=ok */
	int exitcode;              /* if a command has leaks */
	struct mu_options library; /* MEMUNREACHABLE_OPTIONS, and what counts */
	char passed_on[256];       /* of it to a COMMAND: ":use_stacks=0" */
	char by_option[160];       /* what counts, in words; "": everything */
	bool backtrace;            /* record stacks */
	size_t frames;             /* per stack; 0: not given */
	size_t min_size, max_size; /* of blocks that get one; 0: not given */
	const struct mu_writer *writer; /* --format */
	enum mu_style_when color;
	struct mu_cli_watch watch;

	/* Files; NULL: not given. */
	const char *baseline, *write_baseline, *core_out;
	const char *suppressions, *write_suppressions;
	const char *only_module, *only_function; /* patterns */
	const char *source_root;                 /* a folder; NULL: not given */
	const char *only_program;       /* a pattern; NULL: not given */
	struct mu_cli_reports *reports; /* --report; points to OWN_REPORTS */
	struct mu_cli_reports own_reports;

	/* Set by main(). */
	struct mu_core_out *core_image;     /* of --core-out; or NULL */
	struct mu_baseline *known;          /* of these; NULL: not wanted */
	struct mu_suppressions *suppressed; /* NULL: none */
	int suppressions_fd;                /* of the new file; -1: none */
	int baseline_fd;                    /* of the new one; -1: none */
	const struct mu_since *lost_before; /* of --since; or NULL */
};

/* True if groups may be suppressed. */
static inline bool
mu_cli_suppresses(const struct mu_cli_options *options)
{
	return options->suppressions != NULL ||
	    options->write_suppressions != NULL ||
	    options->only_module != NULL || options->only_function != NULL;
}

/*
 * Read ENVIRONMENT (NULL: none), the library's options, and then the command
 * line, which wins. Errors in ENVIRONMENT go to WARNINGS. MU_OK; or
 * MU_ERR_ARGUMENT, and WHY says what is wrong and what is right, safe for a
 * terminal.
 */
enum mu_status mu_cli_options_parse(struct mu_cli_options *options,
    const char *environment, struct mu_text *warnings, int argc, char **argv,
    struct mu_why *why);

/* lib/cli/help.c: print the text of --help, of two screens or ALL, and
 * --version. */
void mu_cli_help(FILE *out, bool all);
void mu_cli_version(FILE *out);

#endif
