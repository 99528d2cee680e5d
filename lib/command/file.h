/*
 * The file of a COMMAND: where it is, and whether a library can be preloaded
 * into the program that it starts.
 */
#ifndef LIB_COMMAND_FILE_H
#define LIB_COMMAND_FILE_H

#include <stddef.h>

#include "mu/status.h"

/*
 * NAME as execvp() finds it, in SEARCH, the value of PATH (NULL: that of the
 * C library). MU_ERR_ARGUMENT: there is none that may be run.
 */
enum mu_status mu_command_file_find(const char *name, const char *search,
    char *path, size_t size, struct mu_why *why);

/*
 * MU_OK if the dynamic linker will take our library along, or if it cannot be
 * told beforehand. MU_PARTIAL: it will not, but the program can be looked at
 * from outside: it is static, or set-user-ID and we are root. MU_ERR_ARGUMENT,
 * with a cure: the program is set-user-ID, of 32 bits or of another processor,
 * of another C library, or has a sanitizer, which has to be loaded first. For a
 * script it is the interpreter that counts.
 */
enum mu_status mu_command_file_check(const char *path, struct mu_why *why);

#endif
