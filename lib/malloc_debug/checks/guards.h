/*
 * Guard bytes around a block, which must not be written to.
 *
 * With a front guard, a head precedes it at the beginning of the allocator's
 * block. Only blocks with a shadow word have guards, and of these not the bare
 * ones.
 */
#ifndef LIB_MALLOC_DEBUG_CHECKS_GUARDS_H
#define LIB_MALLOC_DEBUG_CHECKS_GUARDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GUARDS_FRONT 0xaa
#define GUARDS_REAR 0xbb
#define GUARDS_LIVE 0x1ee7d00du
#define GUARDS_FREED 0x1cc7dccdu

/* True if the block with this word has guards. */
bool guards_around(uint32_t word);

/*
 * A note after the rear guard and the bytes of expand_alloc describes the
 * request, as far as the word has no room for it. It exists if guards_noted(),
 * and is invalid if the program has overwritten it, which it can if there is no
 * rear guard.
 */
bool guards_noted(void);

/*
 * The first byte of a block of 0 bytes. The program must not write it, though 1
 * byte is recorded.
 */
enum guards_empty {
	GUARDS_NOT_EMPTY,
	GUARDS_EMPTY,        /* GUARDS_REAR */
	GUARDS_EMPTY_FILLED, /* by fill_on_alloc */
	GUARDS_EMPTY_ZERO,   /* by calloc() */
};

/*
 * Write the note for BLOCK of SIZE bytes; ALIGNMENT as passed to operator new,
 * or 0.
 */
void guards_note(
    void *block, size_t size, size_t alignment, enum guards_empty empty);
enum guards_empty guards_empty(const void *block, size_t size);

/* False: unknown. */
bool guards_alignment(const void *block, size_t size, size_t *alignment);

/* Distance from the allocator's block to the program's; 0 = no front guard. */
size_t guards_offset(size_t alignment);

/* The size to request for a block of SIZE bytes. Returns false on overflow. */
bool guards_total(size_t size, size_t offset, size_t *total);

/* Make a block of SIZE bytes with guards in RAW. */
void *guards_dress(void *raw, size_t offset, size_t size);

/* To be called when BLOCK has shrunk to SIZE bytes. */
void guards_resize(void *block, size_t size);

/* The allocator's block of BLOCK, whose tag must have been checked. */
void *guards_raw(const void *block);

/* True if there is no head, or if its tag is EXPECTED. FOUND is the tag. */
bool guards_tag(const void *block, uint32_t expected, uint32_t *found);
void guards_set_tag(void *block, uint32_t tag);

#endif
