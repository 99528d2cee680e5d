/*
 * A part of the options' text, not terminated, with functions to compare and
 * parse it.
 *
 * Runs in: original, also in constructors. Pure.
 */
#ifndef LIB_STATE_OPTIONS_TOKEN_H
#define LIB_STATE_OPTIONS_TOKEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct mu_token {
	const char *text;
	size_t length;
};

/* lib/state/options_signal.c: mu_options_signal() for a token. */
int mu_options_signal_token(struct mu_token token);

/* C, in upper case if it is an ASCII letter, whatever the locale. */
static inline char
mu_token_upper(char c)
{
	return c >= 'a' && c <= 'z' ? (char)(c - 'a' + 'A') : c;
}

/* True if TOKEN is TEXT, in upper or lower case. */
static inline bool
mu_token_is(struct mu_token token, const char *text)
{
	size_t i;

	for (i = 0; i < token.length; i++) {
		if (text[i] == '\0' ||
		    mu_token_upper(token.text[i]) != mu_token_upper(text[i]))
			return false;
	}
	return text[i] == '\0';
}

/* Remove PREFIX from the front of TOKEN; false if it does not start so. */
static inline bool
mu_token_starts(struct mu_token *token, const char *prefix)
{
	size_t length = strlen(prefix);
	struct mu_token front = { token->text, length };

	if (token->length < length || !mu_token_is(front, prefix))
		return false;
	token->text += length;
	token->length -= length;
	return true;
}

/*
 * Take the decimal digits at the front of TOKEN; false if there are none or too
 * many.
 */
static inline bool
mu_token_take_number(struct mu_token *token, uint64_t *value)
{
	size_t i;

	*value = 0;
	for (i = 0; i < token->length; i++) {
		char c = token->text[i];

		if (c < '0' || c > '9')
			break;
		if (__builtin_mul_overflow(*value, 10, value) ||
		    __builtin_add_overflow(*value, (uint64_t)(c - '0'), value))
			return false;
	}
	token->text += i;
	token->length -= i;
	return i > 0;
}

/* Parse TOKEN, all of it, as a number up to MAX. */
static inline bool
mu_token_number(struct mu_token token, uint64_t max, uint64_t *value)
{
	return mu_token_take_number(&token, value) && token.length == 0 &&
	    *value <= max;
}

/* The value of a hexadecimal digit; -1 if C is none. */
static inline int
mu_token_hex_digit(char c)
{
	c = mu_token_upper(c);
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* Parse TOKEN, all of it, as a number: decimal, or hexadecimal after 0x. */
static inline bool
mu_token_mask(struct mu_token token, uint64_t *value)
{
	size_t i;

	if (!mu_token_starts(&token, "0X"))
		return mu_token_number(token, UINT64_MAX, value);
	*value = 0;
	for (i = 0; i < token.length; i++) {
		int digit = mu_token_hex_digit(token.text[i]);

		if (digit < 0 || *value >> 60 != 0)
			return false;
		*value = *value << 4 | (uint64_t)digit;
	}
	return token.length > 0;
}

#endif
