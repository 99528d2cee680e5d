/*
 * What a loaded module exports, by the tables that the dynamic linker uses.
 *
 * The command finds better names from module and offset, but a failed test's log
 * is often read where the command and the module are not. dladdr(3) takes a lock
 * of the dynamic linker, which a thread that a signal interrupted may hold.
 *
 * Read by process_vm_readv(2): what was unloaded is not found, and no fault.
 */
#ifndef LIB_REPORT_EXPORTED_H
#define LIB_REPORT_EXPORTED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MU_EXPORTED_CHUNK ((size_t)24 << 10) /* of symbols, bytes */

struct mu_exported {
	uintptr_t bias; /* addresses less those of the file */
	uintptr_t symbols, names;
	size_t count, names_size;
};

/* Of the module whose first byte is at BEGIN. False: it is no ELF file. */
bool mu_exported_open(struct mu_exported *exported, uintptr_t begin);

/*
 * The function that ADDRESS is in: its name, and where in it. CHUNK: room of
 * MU_EXPORTED_CHUNK bytes. False: it is not known.
 */
bool mu_exported_find(const struct mu_exported *exported, uintptr_t address,
    char *chunk, char *name, size_t size, size_t *into);

#endif
