/*
 * The unwind tables of a module: .eh_frame_hdr and .eh_frame, as they lie in
 * memory (LSB Core 5.0, 10.6). No byte outside of the module's segment is
 * read, whatever they say.
 *
 * Runs in: the original, any thread.
 */
#ifndef UNWIND_TABLE_H
#define UNWIND_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct unwind_module {
	uintptr_t start, end; /* addresses of it, holes included */
	const uint8_t *hdr;   /* .eh_frame_hdr */
	/* The segment in which that lies. */
	const uint8_t *readable, *readable_end;
};

/* Bytes that are read one after the other. */
struct unwind_bytes {
	const uint8_t *at, *end;
	bool bad; /* there were too few of them */
};

/* What is known of a function. */
struct unwind_entry {
	uintptr_t begin, end;
	struct unwind_bytes initial, program; /* instructions */
	uint64_t code_align;
	int64_t data_align;
	uint64_t return_column;
	bool signal_frame;
};

/* False: the module has no entry for PC, or none that can be read. */
bool unwind_entry_find(struct unwind_entry *entry,
    const struct unwind_module *module, uintptr_t pc);

uint64_t unwind_take(struct unwind_bytes *bytes, size_t size);
uint64_t unwind_take_uleb(struct unwind_bytes *bytes);
int64_t unwind_take_sleb(struct unwind_bytes *bytes);
/* SIZE bytes of them, for themselves. */
struct unwind_bytes unwind_take_block(
    struct unwind_bytes *bytes, uint64_t size);

#endif
