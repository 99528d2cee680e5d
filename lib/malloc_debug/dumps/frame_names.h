/*
 * The function of an address, from the symbols in the program itself.
 *
 * Calls dladdr() once for each address. Runs in: the original, a thread of
 * libc, inside the recorder.
 */
#ifndef LIB_MALLOC_DEBUG_DUMPS_FRAME_NAMES_H
#define LIB_MALLOC_DEBUG_DUMPS_FRAME_NAMES_H

#include <stddef.h>
#include <stdint.h>

#include "mu/arena.h"

struct frame_name {
	uintptr_t address;    /* 0 = the entry is free */
	uintptr_t relative;   /* address as linked in the file */
	const char *map;      /* its file, "" = none */
	const char *function; /* demangled if the program can; "" = unknown */
	size_t offset;        /* into the function */
};

struct frame_names {
	struct mu_arena arena;
	struct frame_name *table;
	size_t room, count;
};

void frame_names_open(struct frame_names *names);
void frame_names_close(struct frame_names *names);

/* Never NULL; valid until the next call. */
const struct frame_name *frame_names_find(
    struct frame_names *names, uintptr_t address);

#endif
