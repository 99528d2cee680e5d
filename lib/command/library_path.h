/*
 * Where libmemunreachable.so is, to be preloaded into a COMMAND.
 */
#ifndef LIB_COMMAND_LIBRARY_PATH_H
#define LIB_COMMAND_LIBRARY_PATH_H

#include <stddef.h>

#include "mu/status.h"

/*
 * The path of the library: beside the command (a build folder), in ../lib,
 * ../lib64 and ../lib/MULTIARCH from there (any prefix that was moved as a
 * whole), and where it was configured to be.
 */
enum mu_status mu_library_path_find(
    char *path, size_t size, struct mu_why *why);

/* The same of libmemunreachable-malloc-debug.so. */
enum mu_status mu_library_path_recorder(
    char *path, size_t size, struct mu_why *why);

#endif
