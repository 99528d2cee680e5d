/*
 * The mapped files and their addresses, for readers of a file of addresses.
 *
 * Read from /proc/self/maps and the ELF headers in memory: the loader's own
 * list is protected by a lock of libc. Runs in: the original, any thread, also
 * a bare one.
 */
#ifndef LIB_MALLOC_DEBUG_UNWIND_DUMP_MODULES_H
#define LIB_MALLOC_DEBUG_UNWIND_DUMP_MODULES_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Call LINE(ctx, text, length) for each executable mapping of a file, and for
 * the vDSO:
 *	# module <start>-<end> <file offset> <bias> <build-id or -> <path>
 * Numbers are in hexadecimal without 0x, the path is as in /proc/self/maps, and
 * a newline ends the text. Unloaded modules follow (gone_modules.h). False:
 * /proc/self/maps cannot be read.
 */
bool dump_modules(
    void (*line)(void *ctx, const char *text, size_t length), void *ctx);

/* Path of the file that is mapped at ADDRESS; "" if there is none. */
void dump_modules_path(uintptr_t address, char path[PATH_MAX]);

#define DUMP_MODULES_ID 129 /* bytes of a build-id in hex, and the NUL */

/* Build-id of a loaded module; "-" if it has none. */
struct dl_phdr_info;
void dump_modules_id(
    const struct dl_phdr_info *object, char id[DUMP_MODULES_ID]);

#endif
