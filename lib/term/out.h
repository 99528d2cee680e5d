/*
 * The destination of a report: a stream in the command; in the library, where
 * stdio must not be used, its log or a buffer.
 *
 * Runs in: original, command. Uses no malloc, no errno, no libc lock, unless
 * PUT does.
 */
#ifndef LIB_TERM_OUT_H
#define LIB_TERM_OUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "mu/text.h"

#define MU_OUT_PIECE 512 /* bytes that one mu_put() writes at most */

struct mu_symbol;

struct mu_out {
	void (*put)(void *ctx, const char *bytes, size_t length);
	void *ctx;

	/*
	 * Both may be NULL. FRAME is called with a frame of PC instead of
	 * writing its line; false: write the line. END_ENTRY is called after
	 * each entry.
	 */
	bool (*frame)(void *ctx, size_t number, const struct mu_symbol *symbol);
	void (*end_entry)(void *ctx);
};

/* Write to FILE, whose errors its owner checks. */
struct mu_out mu_out_file(FILE *file);

/* Append to TEXT: cut if that is full, but counted. */
struct mu_out mu_out_text(struct mu_text *text);

/*
 * Like mu_text_add(), but not for strings of the subject, which may be longer.
 */
void mu_put(const struct mu_out *out, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Write TEXT, made safe for a terminal and cut at 4 KiB; NULL is empty. */
void mu_put_safe(const struct mu_out *out, const char *text);

/* The same to FILE. */
void mu_print_safe(FILE *file, const char *text);

#endif
