/*
 * Parse a core file into segments of memory and notes.
 *
 * This is the first step from a core to a snapshot. ptrace/core/process.h
 * interprets the notes, ptrace/core/mappings.h the segments.
 *
 * Runs in: the command, where malloc is allowed (libelf uses it).
 */
#ifndef PTRACE_CORE_FILE_H
#define PTRACE_CORE_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include "mu/arena.h"
#include "mu/range.h"
#include "mu/status.h"

/*
 * One PT_LOAD:
 *	LOAD 0x001000 0x00007f1c2a5d5000 0x0 0x001000 0x028000 R   0x1000
 *	     offset   range.begin            dumped   its size flags
 */
struct mu_core_segment {
	struct mu_range range;
	uint64_t offset; /* file offset */
	uint64_t dumped; /* bytes from range.begin on that the file has */
	uint64_t cut;    /* bytes after these that are cut off */
	unsigned flags;  /* PF_R, PF_W, PF_X */
};

/*
 * A note of ours: what only the kernel holds. Words of 64 bits: the first is 1
 * if the threads' alternate stacks are among the others, else 0.
 */
#define MU_NT_KERNEL_VALUES 0x6d75766cu

/*
 * A note of ours: why the answer of the look that wrote the core was partial, a
 * struct mu_why; its text is empty if it was not.
 */
#define MU_NT_DOUBT 0x6d756474u

/* A note written by the kernel (owner CORE or LINUX), or ours. */
struct mu_core_note {
	unsigned type; /* NT_PRSTATUS ... */
	const char *data;
	size_t size;
};

struct mu_core_file {
	int fd; /* -1 if the core is in memory */
	bool mapped;
	const char *bytes; /* the whole file */
	size_t size;
	void *elf; /* libelf's handle; it owns the notes that it copied */

	struct mu_core_segment *segments; /* by address, no overlaps */
	size_t num_segments;
	struct mu_core_note *notes; /* in the file's order */
	size_t num_notes;
	/*
	 * Bytes that the headers promise after the end of the file; 0 if the
	 * file is whole. Includes the CUT of every segment.
	 */
	uint64_t cut;
	bool spoilt; /* damaged, or unpacking failed before its end */
};

/*
 * Open the core at PATH; a compressed one is unpacked first. MU_ERR_ARGUMENT
 * with WHY: PATH is not a core, belongs to another machine, or is damaged. A
 * core that was cut short is not an error (core->cut). Close CORE in any case,
 * and last: its data lies in ARENA and in the file.
 */
enum mu_status mu_core_file_open(struct mu_core_file *core, const char *path,
    struct mu_arena *arena, struct mu_why *why);

/*
 * The same for a core in memory. BYTES are not copied and must stay valid. PATH
 * is used in messages only.
 */
enum mu_status mu_core_file_parse(struct mu_core_file *core, const char *bytes,
    size_t size, const char *path, struct mu_arena *arena, struct mu_why *why);

/* Accepts a CORE that was not opened, if it is zeroed and fd is -1. */
void mu_core_file_close(struct mu_core_file *core);

#endif
