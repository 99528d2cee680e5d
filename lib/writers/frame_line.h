/*
 * One frame of a stack in words.
 */
#ifndef LIB_WRITERS_FRAME_LINE_H
#define LIB_WRITERS_FRAME_LINE_H

#include <stdint.h>

#include "lib/term/names.h"
#include "lib/term/out.h"

#define MU_FRAME_INDENT "          "

/*
 * As Android's unwinder shows it, and file:line behind: PC, of which SYMBOL is
 * known (NULL: nothing).
 */
void mu_frame_line_symbol(const struct mu_out *out, size_t number, uintptr_t pc,
    const struct mu_symbol *symbol);

/* The same by NAMES, unless OUT takes frames itself. */
void mu_frame_line(const struct mu_out *out, size_t number, uintptr_t pc,
    const struct mu_names *names);

/* What each line begins with: any bytes. */
struct mu_frame_prefix {
	const char *bytes;
	size_t length;
};

/* The same with another beginning than MU_FRAME_INDENT. */
void mu_frame_line_prefixed(const struct mu_out *out,
    struct mu_frame_prefix prefix, size_t number,
    const struct mu_symbol *symbol);

#endif
