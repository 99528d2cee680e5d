/*
 * A stretch of the options' text, not terminated, and how it is compared and
 * read.
 *
 * Runs in: original, also in constructors. Pure.
 */
#ifndef LIB_STATE_OPTIONS_WORD_H
#define LIB_STATE_OPTIONS_WORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct mu_word {
	const char *text;
	size_t length;
};

/* lib/state/options_signal.c: mu_options_signal() of a word. */
int mu_options_signal_word(struct mu_word word);

static inline char
mu_word_upper(char c)
{
	return c >= 'a' && c <= 'z' ? (char)(c - 'a' + 'A') : c;
}

static inline bool
mu_word_is(struct mu_word word, const char *text)
{
	size_t i;

	for (i = 0; i < word.length; i++) {
		if (text[i] == '\0' ||
		    mu_word_upper(word.text[i]) != mu_word_upper(text[i]))
			return false;
	}
	return text[i] == '\0';
}

/* Cut PREFIX off the front of WORD. */
static inline bool
mu_word_starts(struct mu_word *word, const char *prefix)
{
	size_t length = strlen(prefix);
	struct mu_word front = { word->text, length };

	if (word->length < length || !mu_word_is(front, prefix))
		return false;
	word->text += length;
	word->length -= length;
	return true;
}

/* Take the decimal digits at the front of WORD; false if none, or too many. */
static inline bool
mu_word_take_number(struct mu_word *word, uint64_t *value)
{
	size_t i;

	*value = 0;
	for (i = 0; i < word->length; i++) {
		char c = word->text[i];

		if (c < '0' || c > '9')
			break;
		if (__builtin_mul_overflow(*value, 10, value) ||
		    __builtin_add_overflow(*value, (uint64_t)(c - '0'), value))
			return false;
	}
	word->text += i;
	word->length -= i;
	return i > 0;
}

/* The whole WORD is a number, at most MAX. */
static inline bool
mu_word_number(struct mu_word word, uint64_t max, uint64_t *value)
{
	return mu_word_take_number(&word, value) && word.length == 0 &&
	    *value <= max;
}

static inline int
mu_word_hex_digit(char c)
{
	c = mu_word_upper(c);
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* The whole WORD is a number: decimal, or hexadecimal after 0x. */
static inline bool
mu_word_mask(struct mu_word word, uint64_t *value)
{
	size_t i;

	if (!mu_word_starts(&word, "0X"))
		return mu_word_number(word, UINT64_MAX, value);
	*value = 0;
	for (i = 0; i < word.length; i++) {
		int digit = mu_word_hex_digit(word.text[i]);

		if (digit < 0 || *value >> 60 != 0)
			return false;
		*value = *value << 4 | (uint64_t)digit;
	}
	return word.length > 0;
}

#endif
