/*
 * What a COMMAND finds in its environment: the library, and what it is to do.
 *
 * Pure, but for malloc.
 */
#ifndef LIB_COMMAND_ENVIRONMENT_H
#define LIB_COMMAND_ENVIRONMENT_H

#include <sys/types.h>

#include "lib/cli/options.h"

/*
 * LD_PRELOAD with LIBRARY behind EARLIER (NULL: none): what was preloaded
 * before keeps its rank. RECORDER comes between them; "": none. To be freed;
 * NULL: no memory.
 */
char *mu_command_environment_preload(
    const char *earlier, const char *recorder, const char *library);

/*
 * LIBC_DEBUG_MALLOC_OPTIONS: EARLIER ones (NULL: none), and then what the
 * command line says, so that it wins. To be freed; NULL: no memory.
 */
char *mu_command_environment_recorder(
    const char *earlier, const struct mu_cli_options *options);

/*
 * MEMUNREACHABLE_OPTIONS: EARLIER ones, and then what the command line says,
 * so that it wins. The log goes to LOG_PATH.PID, what is found to
 * ANSWER_PATH.PID (NULL: to the log), and process TRACER stops the threads.
 * ONLY_PID: the one process that reports; 0: each. To be freed; NULL: no
 * memory, or LOG_PATH has both kinds of quotes.
 */
char *mu_command_environment_options(const char *earlier,
    const struct mu_cli_options *options, const char *log_path,
    const char *answer_path, pid_t tracer, pid_t only_pid);

#endif
