/*
 * Check that a file is the core of a program of the command's own architecture.
 *
 * Runs in: the command, where malloc is allowed (libelf uses it).
 */
#ifndef PTRACE_CORE_FILE_KIND_H
#define PTRACE_CORE_FILE_KIND_H

#include "mu/status.h"

/*
 * ELF is libelf's handle. If the check fails: MU_ERR_ARGUMENT, and WHY says
 * what kind of file PATH is.
 */
enum mu_status mu_core_file_kind(
    void *elf, const char *path, struct mu_why *why);

#endif
