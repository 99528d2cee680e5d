/*
 * Names from outside (paths, symbols, comm) that a terminal or a JSON parser
 * can bear. A file name may hold any byte but '/' and NUL, a symbol any byte
 * but NUL. strvis(3) would write every byte of UTF-8 as a number, and pass what
 * turns the direction of writing.
 *
 * Pure.
 */
#ifndef LIB_TERM_SAFE_TEXT_H
#define LIB_TERM_SAFE_TEXT_H

#include <stddef.h>

/* Room for any text of LENGTH bytes. */
#define MU_SAFE_SIZE(length) ((length)*4 + 1)

/*
 * Copies TEXT: each byte of a control character, of a character that turns the
 * direction of writing, and of what is no UTF-8, as \x1b. Cut at a whole
 * character where SIZE, at least 1, is short. Returns BUFFER.
 */
char *mu_safe_for_terminal(const char *text, char *buffer, size_t size);

/* The same for JSON: what is no UTF-8 as U+FFFD, one a byte. */
char *mu_safe_for_json(const char *text, char *buffer, size_t size);

/* An argument as a complaint shows it: fit for a terminal, and not long. */
struct mu_safe_argument {
	char text[64];
};

struct mu_safe_argument mu_safe_argument(const char *text);

#endif
