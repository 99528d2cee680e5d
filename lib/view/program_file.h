/*
 * The segments of a program that is loaded at the addresses in its file: for
 * reports without a module table.
 */
#ifndef LIB_VIEW_PROGRAM_FILE_H
#define LIB_VIEW_PROGRAM_FILE_H

#include "lib/view/module_table.h"
#include "mu/status.h"

/*
 * Add the segments of the ELF file PATH to TABLE, which is not sealed yet.
 * RELOCATED: it may be loaded anywhere, so that its addresses mean nothing.
 * MU_ERR_ARGUMENT: it cannot be read, or is no program.
 */
enum mu_status mu_program_file_add(struct mu_module_table *table,
    const char *path, bool *relocated, struct mu_why *why);

#endif
