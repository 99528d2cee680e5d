/*
 * Where a report goes: a stream in the command; in the library, where stdio
 * may not run, its log or a buffer.
 *
 * Runs in: original, command. Uses no malloc, no errno, no libc lock, but for
 * what PUT does.
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
	 * Both may be NULL. FRAME takes a frame of PC instead of its line of
	 * text; false: write the text. END_ENTRY follows each entry.
	 */
	bool (*frame)(void *ctx, size_t number, const struct mu_symbol *symbol);
	void (*end_entry)(void *ctx);
};

/* To FILE, whose errors its owner asks for. */
struct mu_out mu_out_file(FILE *file);

/* Behind what TEXT has: cut where that is full, and measured. */
struct mu_out mu_out_text(struct mu_text *text);

/* As mu_text_add(). No string of the subject: these may be longer. */
void mu_put(const struct mu_out *out, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* TEXT, safe for a terminal and cut at 4 KiB; NULL is empty. */
void mu_put_safe(const struct mu_out *out, const char *text);

/* The same to FILE. */
void mu_print_safe(FILE *file, const char *text);

#endif
