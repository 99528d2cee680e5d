/*
 * What the first bytes of a program or library say about it: its build-id, and
 * the protections of its segments.
 *
 * Runs in: the command, where malloc is allowed (libelf uses it).
 */
#ifndef PTRACE_CORE_FILE_ID_H
#define PTRACE_CORE_FILE_ID_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MU_CORE_ID_MOST 64 /* bytes; the usual SHA-1 has 20 */

struct mu_core_id {
	size_t size; /* 0 if the file has no build-id */
	unsigned char bytes[MU_CORE_ID_MOST];
};

/*
 * Read the build-id of the file that begins with BYTES; OUT->size is 0 if the
 * bytes do not include it. Returns false if they are not the start of an ELF
 * file.
 */
bool mu_core_file_id(const char *bytes, size_t size, struct mu_core_id *id);

/*
 * A gap between two segments: the loader maps the whole file first, and then
 * makes the gaps inaccessible (_dl_map_segments in glibc's
 * elf/dl-map-segments.h).
 */
#define MU_CORE_FILE_HOLE (1u << 31)

/*
 * The protections (PF_R, PF_W, PF_X) of the page that is mapped AWAY bytes
 * after the file's first page, or MU_CORE_FILE_HOLE; 0 if not known.
 */
unsigned mu_core_file_flags(const char *bytes, size_t size, uint64_t away);

#endif
