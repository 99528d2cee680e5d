/*
 * Make names from outside (paths, symbols, comm) safe for a terminal or a JSON
 * parser. A file name may hold any byte but '/' and NUL, a symbol any byte but
 * NUL. strvis(3) would escape every byte of UTF-8, but pass characters that
 * change the direction of writing.
 *
 * Pure.
 */
#ifndef LIB_TERM_SAFE_TEXT_H
#define LIB_TERM_SAFE_TEXT_H

#include <stddef.h>

/* Buffer size for any text of LENGTH bytes. */
#define MU_SAFE_SIZE(length) ((length)*4 + 1)

/*
 * Copy TEXT. Every byte of a control character, of a character that changes the
 * direction of writing, and of invalid UTF-8 becomes \x1b and the like. If
 * SIZE, at least 1, does not suffice, the text is cut after a whole character.
 * Returns BUFFER.
 */
char *mu_safe_for_terminal(const char *text, char *buffer, size_t size);

/* The same for JSON: each byte of invalid UTF-8 becomes U+FFFD. */
char *mu_safe_for_json(const char *text, char *buffer, size_t size);

/* An argument for an error message: safe for a terminal, and short. */
struct mu_safe_argument {
	char text[64];
};

/* TEXT, by value; what has no room is cut. */
struct mu_safe_argument mu_safe_argument(const char *text);

#endif
