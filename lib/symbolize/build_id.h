/*
 * Build-ids of ELF files.
 *
 * Pure.
 */
#ifndef SYMBOLIZE_BUILD_ID_H
#define SYMBOLIZE_BUILD_ID_H

#include <libelf.h>

#define MU_BUILD_ID_MAX 64 /* bytes; SHA-1 has 20 */

/* In hex; "" if there is none. */
struct mu_build_id_hex {
	char hex[2 * MU_BUILD_ID_MAX + 1];
};

/* The SIZE bytes at ID; none if SIZE is not in 1..MU_BUILD_ID_MAX. */
struct mu_build_id_hex mu_build_id_hex(const void *id, ssize_t size);

/* The build-id in the notes of an ELF file. */
struct mu_build_id_hex mu_build_id_of(Elf *elf);

#endif
