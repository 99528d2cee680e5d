/*
 * A core file as its parts: segments of memory, and notes.
 *
 * The first step from a core to a snapshot; the notes are understood in
 * ptrace/core/process.h and ptrace/core/threads.h, the segments in
 * ptrace/core/mappings.h.
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
	uint64_t offset; /* into the file */
	uint64_t dumped; /* bytes from range.begin on that the file has */
	uint64_t cut;    /* bytes behind them that it should have, too */
	unsigned flags;  /* PF_R, PF_W, PF_X */
};

/* A note of the kernel's, whose owner is CORE or LINUX. */
struct mu_core_note {
	unsigned type; /* NT_PRSTATUS ... */
	const char *data;
	size_t size;
};

struct mu_core_file {
	int fd; /* -1: bytes in memory */
	bool mapped;
	const char *bytes; /* all of the file */
	size_t size;
	void *elf; /* libelf's; notes that it copied are freed with it */

	struct mu_core_segment *segments; /* by address, no overlaps */
	size_t num_segments;
	struct mu_core_note *notes; /* in the file's order */
	size_t num_notes;
	/*
	 * Bytes that the headers say the file has, and that are behind its
	 * end: 0 of a whole one. Those of segments are in their CUT, too.
	 */
	uint64_t cut;
	bool spoilt; /* it could not be unpacked to its end, or is damaged */
};

/*
 * Open the core at PATH; a compressed one is unpacked first. MU_ERR_ARGUMENT
 * with WHY: it is none, or one of another machine, or damaged. A core that was
 * cut short is no error (core->cut). CORE is to be closed in any case, and
 * last: what it has lies in ARENA and in the file.
 */
enum mu_status mu_core_file_open(struct mu_core_file *core, const char *path,
    struct mu_arena *arena, struct mu_why *why);

/*
 * The same of a core's BYTES in memory, kept and not copied. PATH is for WHY
 * only.
 */
enum mu_status mu_core_file_parse(struct mu_core_file *core, const char *bytes,
    size_t size, const char *path, struct mu_arena *arena, struct mu_why *why);

/* Accepts what was not opened but is zero with fd -1. */
void mu_core_file_close(struct mu_core_file *core);

#endif
