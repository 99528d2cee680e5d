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

#include "mu/status.h"

/* A piece of text; at END one byte more can be written. */
struct mu_line {
	char *at, *end;
};

/*
 * Take the first line off REST, without its "\n" or "\r\n"; false: no more.
 * WHOLE: it had its newline.
 */
bool mu_line_take(struct mu_line *rest, struct mu_line *line, bool *whole);

/* Take what begins with TEXT off LINE; false: it does not. */
bool mu_line_skip(struct mu_line *line, const char *text);

/* Take a field off LINE, with the blanks before it; false: there is none. */
bool mu_line_field(struct mu_line *line, struct mu_line *word);

bool mu_line_is(struct mu_line field, const char *text);

/*
 * All of WORD as a number in BASE 10 or 16; false: it is none, or needs over
 * 64 bits.
 */
bool mu_line_number(struct mu_line word, unsigned base, uint64_t *value);

/* LINE as a string, ended in place. It has no NUL in it: see below. */
char *mu_line_string(struct mu_line line);

/* Is there a byte that would end a string early? */
bool mu_line_has_nul(struct mu_line line);

/* WHY a file of which COUNT lines cannot be read is partial. */
enum mu_status mu_why_bad_lines(
    struct mu_why *why, size_t count, size_t first_number);

#endif
