/*
 * Decompress a core (.zst, .xz, .lz4, .gz).
 *
 * Uses the command-line tools, which a system with such files has:
 * systemd-coredump writes the first three. dwelf_elf_begin() of libdw would
 * unpack some of them, into memory from malloc, all of it and without holes.
 *
 * Runs in: the command.
 */
#ifndef PTRACE_CORE_UNPACK_H
#define PTRACE_CORE_UNPACK_H

#include "mu/status.h"

/*
 * If *FD, the file at PATH, is compressed (checked by its first bytes, not its
 * name), replace it by an unnamed file in $TMPDIR, /var/tmp or /tmp with the
 * unpacked contents; runs of zeros are holes. MU_PARTIAL with WHY: the tool
 * reported an error, and the file has what it wrote. MU_ERR_ARGUMENT: there is
 * no output, or the tool is not installed. MU_ERR_RESOURCES: no space.
 */
enum mu_status mu_core_unpack(int *fd, const char *path, struct mu_why *why);

#endif
