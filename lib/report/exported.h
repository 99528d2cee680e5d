/*
 * The exported symbols of a loaded module, from the tables that the dynamic
 * linker uses.
 *
 * The command finds better names from module and offset, but a failed test's
 * log is often read where the command or the module is not available. dladdr(3)
 * takes a lock of the dynamic linker, which a thread that was interrupted by a
 * signal may hold.
 *
 * Memory is read by process_vm_readv(2): if a module is unloaded, that fails
 * without a fault.
 *
 * Runs in: original.
 */
#ifndef LIB_REPORT_EXPORTED_H
#define LIB_REPORT_EXPORTED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MU_EXPORTED_CHUNK ((size_t)24 << 10) /* of symbols, bytes */

struct mu_exported {
	uintptr_t bias; /* load bias */
	uintptr_t symbols, names;
	size_t count, names_size;
};

/*
 * Open the module whose first byte is at BEGIN. Returns false if it is not an
 * ELF file.
 */
bool mu_exported_open(struct mu_exported *exported, uintptr_t begin);

/*
 * Find the function that contains ADDRESS: its name, and the offset in it.
 * CHUNK has room for MU_EXPORTED_CHUNK bytes. Returns false if it is not known.
 */
bool mu_exported_find(const struct mu_exported *exported, uintptr_t address,
    char *chunk, char *name, size_t size, size_t *into);

#endif
