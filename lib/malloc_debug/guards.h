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
