/*
 * What the first bytes of a program or library tell about it: the build-id, and
 * which of its parts may be written and run.
 *
 * Runs in: the command, where malloc is allowed (libelf uses it).
 */
#ifndef PTRACE_CORE_FILE_ID_H
#define PTRACE_CORE_FILE_ID_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MU_CORE_ID_MOST 64 /* bytes; SHA-1, the usual one, has 20 */

struct mu_core_id {
	size_t size; /* 0: none */
	unsigned char bytes[MU_CORE_ID_MOST];
};

/*
 * The build-id of the file that begins with these BYTES, as far as they hold
 * it. False: they are not the begin of an ELF file.
 */
bool mu_core_file_id(const char *bytes, size_t size, struct mu_core_id *id);

/*
 * Between two segments: the loader maps the whole file first, and closes what
 * lies between for good (_dl_map_segments in glibc's elf/dl-map-segments.h).
 */
#define MU_CORE_FILE_HOLE (1u << 31)

/*
 * PF_R, PF_W, PF_X of what the loader maps AWAY bytes from where it maps the
 * file's first page, or MU_CORE_FILE_HOLE; 0: not known.
 */
unsigned mu_core_file_flags(const char *bytes, size_t size, uint64_t away);

#endif
