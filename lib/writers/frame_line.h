/*
 * Format one frame of a stack as text.
 *
 * Runs in: original, command.
 */
#ifndef LIB_WRITERS_FRAME_LINE_H
#define LIB_WRITERS_FRAME_LINE_H

#include <stdint.h>

#include "lib/term/names.h"
#include "lib/term/out.h"

#define MU_FRAME_INDENT "          "

/*
 * In the form of Android's unwinder, followed by file:line. SYMBOL is what is
 * known of PC; NULL: nothing.
 */
void mu_frame_line_symbol(const struct mu_out *out, size_t number, uintptr_t pc,
    const struct mu_symbol *symbol);

/* The same with the symbol from NAMES, unless OUT takes frames itself. */
void mu_frame_line(const struct mu_out *out, size_t number, uintptr_t pc,
    const struct mu_names *names);

/* The prefix of each line; arbitrary bytes. */
struct mu_frame_prefix {
	const char *bytes;
	size_t length;
};

/* The same with another prefix than MU_FRAME_INDENT. */
void mu_frame_line_prefixed(const struct mu_out *out,
    struct mu_frame_prefix prefix, size_t number,
    const struct mu_symbol *symbol);

#endif
