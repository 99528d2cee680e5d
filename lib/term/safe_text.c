#include "lib/term/safe_text.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "mu/text.h"

#define REPLACEMENT "\xef\xbf\xbd" /* U+FFFD */
#define ESCAPE_LENGTH 4            /* as in \x1b */

static bool
continues(unsigned char byte)
{
	return (byte & 0xc0) == 0x80;
}

/*
 * The length of the UTF-8 character at P, terminated by NUL; 0 if it is not
 * valid (RFC 3629: neither overlong nor a surrogate nor above U+10FFFF).
 */
static size_t
decode(const unsigned char *p, uint32_t *code)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	size_t length, i;

	*code = *p;
	if (*p < 0x80)
		return 1;
	length = *p >= 0xf0 ? 4 : *p >= 0xe0 ? 3 : 2;
	if (*p < 0xc2 || *p > 0xf4)
		return 0;
	*code &= 0xffu >> (length + 1);
	for (i = 1; i < length; i++) {
		if (!continues(p[i]))
			return 0;
		*code = *code << 6 | (p[i] & 0x3fu);
	}
	if (*code < least[length] || *code > 0x10ffff ||
	    (*code >= 0xd800 && *code <= 0xdfff))
		return 0;
	return length;
}

/*
 * True for C0, DEL, C1, and the marks and overrides of Unicode's bidi
 * algorithm.
 */
static bool
is_harmful(uint32_t code)
{
	return code < 0x20 || (code >= 0x7f && code < 0xa0) || code == 0x61c ||
	    (code >= 0x200b && code <= 0x200f) ||
	    (code >= 0x2028 && code <= 0x202e) ||
	    (code >= 0x2060 && code <= 0x2069) || code == 0xfeff;
}

/* Add LENGTH bytes if they fit; returns false if not. */
static bool
add(char *buffer, size_t size, size_t *used, const char *bytes, size_t length)
{
	if (length >= size - *used)
		return false;
	memcpy(buffer + *used, bytes, length);
	*used += length;
	return true;
}

char *
mu_safe_for_terminal(const char *text, char *buffer, size_t size)
{
	const unsigned char *p = (const unsigned char *)text;
	char escape[ESCAPE_LENGTH + 1];
	size_t used = 0, length;
	uint32_t code;
	bool fits = true;

	while (fits && *p != '\0') {
		length = decode(p, &code);
		if (length > 0 && !is_harmful(code)) {
			fits =
			    add(buffer, size, &used, (const char *)p, length);
			p += length;
			continue;
		}
		for (length += length == 0; fits && length > 0; length--) {
			mu_text_format(
			    escape, sizeof(escape), "\\x%02x", (unsigned)*p++);
			fits = add(buffer, size, &used, escape, ESCAPE_LENGTH);
		}
	}
	buffer[used] = '\0';
	return buffer;
}

char *
mu_safe_for_json(const char *text, char *buffer, size_t size)
{
	const unsigned char *p = (const unsigned char *)text;
	size_t used = 0, length;
	uint32_t code;
	bool fits = true;

	while (fits && *p != '\0') {
		length = decode(p, &code);
		if (length > 0)
			fits =
			    add(buffer, size, &used, (const char *)p, length);
		else
			fits = add(buffer, size, &used, REPLACEMENT,
			    sizeof(REPLACEMENT) - 1);
		p += length > 0 ? length : 1;
	}
	buffer[used] = '\0';
	return buffer;
}

struct mu_safe_argument
mu_safe_argument(const char *text)
{
	struct mu_safe_argument shown;

	mu_safe_for_terminal(text, shown.text, sizeof(shown.text));
	return shown;
}
