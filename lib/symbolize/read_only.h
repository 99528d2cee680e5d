/*
 * A process that can read files and nothing else.
 *
 * Runs in: a child of the command.
 */
#ifndef SYMBOLIZE_READ_ONLY_H
#define SYMBOLIZE_READ_ONLY_H

#include <stdbool.h>

/*
 * From now on other system calls than reading takes fail with EPERM. A plain
 * open() for reading, as libdw does it for the files that DWARF names, opens
 * regular files only; by O_NONBLOCK or O_PATH others are opened as well. The
 * caller has no_new_privs or CAP_SYS_ADMIN. False: the kernel has no seccomp.
 */
bool mu_read_only(void);

#endif
