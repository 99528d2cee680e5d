/*
 * Split text into lines and fields. Nothing is copied; a caller that needs a
 * string terminates it in place.
 *
 * Pure.
 */
#ifndef LIB_VIEW_LINE_H
#define LIB_VIEW_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mu/arena.h"
#include "mu/status.h"

/* A piece of text; the byte at END can be written. */
struct mu_line {
	char *at, *end;
};

/*
 * Take the first line from REST, without its "\n" or "\r\n"; false if there is
 * none. WHOLE: it had a newline.
 */
bool mu_line_take(struct mu_line *rest, struct mu_line *line, bool *whole);

/* Take the prefix TEXT from LINE; false if LINE does not start with it. */
bool mu_line_skip(struct mu_line *line, const char *text);

/* Take a field, and the blanks before it, from LINE; false if there is none. */
bool mu_line_field(struct mu_line *line, struct mu_line *word);

/* True if FIELD is exactly TEXT. */
bool mu_line_is(struct mu_line field, const char *text);

/*
 * Parse all of WORD as a number in BASE 10 or 16; false if it is not one, or
 * needs over 64 bits.
 */
bool mu_line_number(struct mu_line word, unsigned base, uint64_t *value);

/*
 * LINE as a string, terminated in place. It must not contain a NUL: see
 * mu_line_has_nul().
 */
char *mu_line_string(struct mu_line line);

/* Replace LINE by a copy in ARENA. Returns false without memory. */
bool mu_line_keep(struct mu_line *line, struct mu_arena *arena);

/* True if a NUL byte would end the string early. */
bool mu_line_has_nul(struct mu_line line);

/* The reason why a file with COUNT invalid lines is partial. */
enum mu_status mu_why_bad_lines(
    struct mu_why *why, size_t count, size_t first_number);

#endif
