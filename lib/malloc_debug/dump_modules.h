/*
 * Which files lie where, for who reads a file of addresses later.
 *
 * From /proc/self/maps and the ELF headers in memory: the loader's own list is
 * behind a lock of libc's. Runs in: the original, any thread, also a bare one.
 */
#ifndef DUMP_MODULES_H
#define DUMP_MODULES_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * LINE(ctx, text, length) for each executable mapping of a file, and the vDSO:
 *	# module <start>-<end> <file offset> <bias> <build-id or -> <path>
 * numbers in hexadecimal without 0x, the path as in /proc/self/maps, with the
 * newline; then those that were unloaded (gone_modules.h). False:
 * /proc/self/maps cannot be read.
 */
bool dump_modules(
    void (*line)(void *ctx, const char *text, size_t length), void *ctx);

/* That of the file that ADDRESS is in; "": there is none. */
void dump_modules_path(uintptr_t address, char path[PATH_MAX]);

#define DUMP_MODULES_ID 129 /* bytes of a build-id in hex, and the NUL */

/* That of a module that is loaded; "-": it has none. */
struct dl_phdr_info;
void dump_modules_id(
    const struct dl_phdr_info *object, char id[DUMP_MODULES_ID]);

#endif
