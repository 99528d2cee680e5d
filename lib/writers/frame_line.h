/*
 * One frame of a stack in words.
 */
#ifndef LIB_WRITERS_FRAME_LINE_H
#define LIB_WRITERS_FRAME_LINE_H

#include <stdint.h>
#include <stdio.h>

#include "lib/symbolize/helper.h"
#include "lib/term/names.h"

/* As Android's unwinder shows it, and file:line behind. */
void mu_frame_line(
    FILE *out, size_t number, uintptr_t pc, const struct mu_names *names);

/* What each line begins with: any bytes. */
struct mu_frame_prefix {
	const char *bytes;
	size_t length;
};

/* The same for an address that was looked up. */
void mu_frame_line_symbol(FILE *out, struct mu_frame_prefix prefix,
    size_t number, const struct mu_symbol *symbol);

/*
 * The same for OFFSET in the file PATH, with the callers that the frame was put
 * into. False: nothing is known of it, and nothing was written.
 */
bool mu_frame_line_file(FILE *out, struct mu_symbol_helper *helper,
    struct mu_frame_prefix prefix, size_t number, const char *path,
    uintptr_t offset);

#endif
