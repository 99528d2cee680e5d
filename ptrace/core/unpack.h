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
 * Where *FD, the file at PATH, is compressed (told by its first bytes, not by
 * its name), it becomes a file without a name in $TMPDIR, /var/tmp or /tmp that
 * holds what it unpacks to, with holes for zeros. MU_PARTIAL with WHY: the tool
 * was not content, and what it wrote is there. MU_ERR_ARGUMENT: nothing came
 * out, or there is no tool for it here; MU_ERR_RESOURCES: no room.
 */
enum mu_status mu_core_unpack(int *fd, const char *path, struct mu_why *why);

#endif
