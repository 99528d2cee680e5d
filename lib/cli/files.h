/*
 * The files of a check beside its report: --since and --baseline are read
 * before it; --save, --core-out, --report and --write-baseline are put in place
 * when it has ended. They are opened with our rights: a child may not reach
 * them.
 *
 * Runs in: the command.
 */
#ifndef LIB_CLI_FILES_H
#define LIB_CLI_FILES_H

#include "lib/cli/options.h"
#include "lib/look/core_out.h"
#include "lib/look/write.h"
#include "lib/since/baseline.h"
#include "lib/since/since.h"
#include "lib/since/suppressions.h"
#include "lib/term/new_file.h"

struct mu_cli_files {
	struct mu_since since;
	struct mu_baseline known;
	struct mu_suppressions suppressed;
	struct mu_look_writer look;
	struct mu_core_out core;
	struct mu_new_file new_look, new_core, new_baseline, new_suppressions;
};

/*
 * Open those that OPTIONS name, which refer to FILES from then on. Close in any
 * case.
 */
enum mu_status mu_cli_files_open(struct mu_cli_files *files,
    struct mu_cli_options *options, struct mu_why *why);

/*
 * Put the new files in their places. One that is empty could not be written:
 * an error if STATUS is that of a check. Returns the exit status, which was
 * STATUS; the reasons go to standard error.
 */
int mu_cli_files_commit(struct mu_cli_files *files,
    const struct mu_cli_options *options, int status);

/* Files that are not in their places are removed. */
void mu_cli_files_close(
    struct mu_cli_files *files, struct mu_cli_options *options);

/*
 * Print WHY to standard error, and after MU_EXIT_USAGE where to read more.
 * Returns STATUS.
 */
int mu_cli_complain(int status, const struct mu_why *why);

#endif
