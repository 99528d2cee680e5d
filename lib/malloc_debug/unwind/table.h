/*
 * The unwind tables of a module: .eh_frame_hdr and .eh_frame as mapped in
 * memory (LSB Core 5.0, 10.6). No byte outside the module's segment is read,
 * whatever the tables say.
 */
#ifndef LIB_MALLOC_DEBUG_UNWIND_TABLE_H
#define LIB_MALLOC_DEBUG_UNWIND_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct unwind_module {
	uintptr_t start, end; /* its addresses, with holes */
	const uint8_t *hdr;   /* .eh_frame_hdr */
	/* The segment that contains it. */
	const uint8_t *readable, *readable_end;
};

/* A sequence of bytes to read. */
struct unwind_bytes {
	const uint8_t *at, *end;
	bool bad; /* a read went past the end */
};

/* The unwind information of a function. */
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

/*
 * Take a little-endian number of SIZE bytes (at most 8), or a LEB128 number. 0
 * and bytes->bad if it does not end in BYTES.
 */
uint64_t unwind_take(struct unwind_bytes *bytes, size_t size);
uint64_t unwind_take_uleb(struct unwind_bytes *bytes);
int64_t unwind_take_sleb(struct unwind_bytes *bytes);
/* Take SIZE bytes as a separate sequence. */
struct unwind_bytes unwind_take_block(
    struct unwind_bytes *bytes, uint64_t size);

#endif
