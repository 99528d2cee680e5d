/*
 * The environment of a COMMAND: preload the library, and set its options.
 *
 * Pure, except for malloc.
 */
#ifndef LIB_COMMAND_ENVIRONMENT_H
#define LIB_COMMAND_ENVIRONMENT_H

#include <sys/types.h>

#include "lib/cli/options.h"

/*
 * LD_PRELOAD with LIBRARY after EARLIER (NULL: none), so that earlier libraries
 * keep their priority. RECORDER comes between them; "": none. The caller frees
 * the result; NULL: no memory.
 */
char *mu_command_environment_preload(
    const char *earlier, const char *recorder, const char *library);

/*
 * LIBC_DEBUG_MALLOC_OPTIONS: EARLIER options (NULL: none), followed by those of
 * the command line, which win. The caller frees the result; NULL: no memory.
 */
char *mu_command_environment_recorder(
    const char *earlier, const struct mu_cli_options *options);

/*
 * MEMUNREACHABLE_OPTIONS: EARLIER options, followed by those of the command
 * line, which win. The log goes to LOG_PATH.PID, results go to ANSWER_PATH.PID
 * (NULL: to the log), and process TRACER stops the threads. ONLY_PID is the
 * only process that reports, and its children do not inherit the last PRELOADED
 * bytes of LD_PRELOAD; 0: all do. The caller frees the result; NULL: no memory,
 * or LOG_PATH contains both kinds of quotes.
 */
char *mu_command_environment_options(const char *earlier,
    const struct mu_cli_options *options, const char *log_path,
    const char *answer_path, pid_t tracer, pid_t only_pid, size_t preloaded);

#endif
