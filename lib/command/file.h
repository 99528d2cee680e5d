/*
 * Find the file of a COMMAND, and check whether a library can be preloaded into
 * the program.
 */
#ifndef LIB_COMMAND_FILE_H
#define LIB_COMMAND_FILE_H

#include <stddef.h>

#include "mu/status.h"

/*
 * Find NAME as execvp() does, in SEARCH, the value of PATH (NULL: the C
 * library's default). MU_ERR_ARGUMENT: there is no executable file.
 */
enum mu_status mu_command_file_find(const char *name, const char *search,
    char *path, size_t size, struct mu_why *why);

/*
 * MU_OK: the dynamic linker will load our library, or that cannot be known.
 * MU_PARTIAL: it will not, but the program can be checked from outside: it is
 * static, or set-user-ID while we are root. MU_ERR_ARGUMENT, with a remedy: the
 * program is set-user-ID, has 32 bits, is for another processor or C library,
 * or has a sanitizer, which must be loaded first. For a script the interpreter
 * is checked.
 */
enum mu_status mu_command_file_check(const char *path, struct mu_why *why);

/*
 * The same for PATH as the file that a process runs, NAME in messages; MU_OK
 * also if it is static or set-user-ID.
 */
enum mu_status mu_command_file_check_run(
    const char *path, const char *name, struct mu_why *why);

#endif
