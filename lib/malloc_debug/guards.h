/*
 * Bytes around a block that nobody must write to.
 *
 * With a guard in front, a head lies before it at the begin of what the
 * allocator gave. Only what has a word in the shadow, and that not of a bare
 * block, has guards.
 *
 * Runs in: the original, any thread.
 */
#ifndef GUARDS_H
#define GUARDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GUARDS_FRONT 0xaa
#define GUARDS_REAR 0xbb
#define GUARDS_LIVE 0x1ee7d00du
#define GUARDS_FREED 0x1cc7dccdu

/* Does the block with this word have guards at all? */
bool guards_around(uint32_t word);

/*
 * A note behind rear guard and expand_alloc's bytes, of how the block was asked
 * for: what a word has no room for. It is there if guards_noted(), and unknown
 * if the program has written over it, as it may where there is no rear guard.
 */
bool guards_noted(void);

/* What the first byte of a block of 0 bytes is, which the program must not
 * write, though 1 byte is recorded. */
enum guards_empty {
	GUARDS_NOT_EMPTY,
	GUARDS_EMPTY,        /* GUARDS_REAR */
	GUARDS_EMPTY_FILLED, /* by fill_on_alloc */
	GUARDS_EMPTY_ZERO,   /* by calloc() */
};

/* BLOCK of SIZE bytes; ALIGNMENT that operator new was told, or 0. */
void guards_note(
    void *block, size_t size, size_t alignment, enum guards_empty empty);
enum guards_empty guards_empty(const void *block, size_t size);

/* False: unknown. */
bool guards_alignment(const void *block, size_t size, size_t *alignment);

/* From what the allocator gives to the block; 0 = no front. */
size_t guards_offset(size_t alignment);

/* What to ask for, for a block of SIZE bytes. False = more than there is. */
bool guards_total(size_t size, size_t offset, size_t *total);

/* RAW, given for that, becomes a block of SIZE bytes. */
void *guards_dress(void *raw, size_t offset, size_t size);

/* BLOCK has SIZE bytes now, and fewer than before. */
void guards_resize(void *block, size_t size);

/* What the allocator gave for BLOCK, whose tag has been found good. */
void *guards_raw(const void *block);

/* Is the tag in the head, if there is one, this? FOUND is what it is. */
bool guards_tag(const void *block, uint32_t expected, uint32_t *found);
void guards_set_tag(void *block, uint32_t tag);

#endif
