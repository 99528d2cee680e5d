/*
 * Core files made up in memory: segments and notes, laid out as the kernel
 * does it (headers, notes, then pages).
 */
#ifndef TESTS_SUPPORT_COMMAND_MADE_CORE_H
#define TESTS_SUPPORT_COMMAND_MADE_CORE_H

#include <check.h>
#include <elf.h>
#include <string.h>
#include <sys/procfs.h>

#include "mu/arch/cpu.h"
#include "mu/arch/registers.h"
#include "ptrace/core/snapshot.h"

#define MADE_PAGE 4096
#define MADE_PARTS 20

struct made_core {
	/* A page more than any of them has, and on a page's begin. */
	_Alignas(MADE_PAGE) char bytes[64 * MADE_PAGE];
	size_t size;
	char notes[2 * MADE_PAGE];
	size_t notes_size, count;
	Elf64_Phdr parts[MADE_PARTS];
	const char *data[MADE_PARTS];
};

void made_note_of(struct made_core *made, const char *owner, unsigned type,
    const void *data, size_t size);
void made_note(
    struct made_core *made, unsigned type, const void *data, size_t size);

/* DUMPED bytes of SIZE are in the file: DATA, or the segment's number. */
void made_segment(struct made_core *made, uintptr_t begin, size_t size,
    unsigned flags, size_t dumped, const char *data);

void made_thread(struct made_core *made, pid_t tid, uintptr_t sp, uintptr_t tp);

/* NT_FILE of one file in COUNT places: begin, end, offset in pages. */
void made_files(struct made_core *made, const uintptr_t (*rows)[3],
    size_t count, const char *const *names);

Elf64_Ehdr *made_header(struct made_core *made);

Elf64_Phdr *made_headers(struct made_core *made);

/* Lay it out; what it was made of stays, to be changed and laid out again. */
void made_finish(struct made_core *made);

/* A snapshot of a core of SIZE bytes in memory, whose files are nowhere. */
static inline enum mu_status
core_in_memory(struct mu_snapshot *snap, struct mu_snapshot_core *core,
    const char *bytes, size_t size, struct mu_arena *arena, struct mu_why *why)
{
	static const struct mu_core_paths nowhere = { NULL, "/nonexistent" };
	enum mu_status status;

	*snap = (struct mu_snapshot) { .pid = 0 };
	*core = (struct mu_snapshot_core) { .file.fd = -1, .memory.fd = -1 };
	status =
	    mu_core_file_parse(&core->file, bytes, size, "made", arena, why);
	return status == MU_OK
	    ? mu_snapshot_core_fill(snap, core, &nowhere, arena, why)
	    : status;
}

#endif
