/*
 * Runs in: any.
 */
#include "mu/text.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define MAX_DIGITS 24

struct sink {
	char *buffer;
	size_t size, length;
};

struct spec {
	bool left, zero;
	size_t width;
	bool has_precision;
	size_t precision;
	int bytes; /* size of an integer argument; 1 = hh */
	char letter;
};

static void
put(struct sink *sink, char c)
{
	if (sink->length + 1 < sink->size)
		sink->buffer[sink->length] = c;
	sink->length++;
}

static void
pad(struct sink *sink, size_t have, size_t width, char c)
{
	for (; have < width; have++)
		put(sink, c);
}

static void
put_string(struct sink *sink, const struct spec *spec, const char *s)
{
	size_t i, length = 0;

	if (s == NULL)
		s = "(null)";
	while ((!spec->has_precision || length < spec->precision) &&
	    s[length] != '\0')
		length++;
	if (!spec->left)
		pad(sink, length, spec->width, ' ');
	for (i = 0; i < length; i++)
		put(sink, s[i]);
	if (spec->left)
		pad(sink, length, spec->width, ' ');
}

static void
put_number(
    struct sink *sink, const struct spec *spec, uintmax_t value, bool negative)
{
	const char *digits =
	    spec->letter == 'X' ? "0123456789ABCDEF" : "0123456789abcdef";
	unsigned base = spec->letter == 'd' || spec->letter == 'u' ? 10 : 16;
	char text[MAX_DIGITS];
	size_t count = 0, total;

	do {
		text[count++] = digits[value % base];
		value /= base;
	} while (value != 0);
	total = count + (negative ? 1 : 0);
	if (!spec->left && !spec->zero)
		pad(sink, total, spec->width, ' ');
	if (negative)
		put(sink, '-');
	if (!spec->left && spec->zero)
		pad(sink, total, spec->width, '0');
	while (count > 0)
		put(sink, text[--count]);
	if (spec->left)
		pad(sink, total, spec->width, ' ');
}

static const char *
read_number(const char *p, size_t *value)
{
	for (*value = 0; *p >= '0' && *p <= '9'; p++)
		*value = *value * 10 + (size_t)(*p - '0');
	return p;
}

static const char *
read_length(const char *p, struct spec *spec)
{
	spec->bytes = sizeof(int);
	for (;; p++) {
		if (*p == 'l' || *p == 'z' || *p == 'j' || *p == 't')
			spec->bytes = sizeof(intmax_t);
		else if (*p == 'h')
			spec->bytes = spec->bytes == 2 ? 1 : 2;
		else
			return p;
	}
}

/*
 * Parse a conversion. P is after the '%'; returns the position after the
 * letter.
 */
static const char *
read_spec(const char *p, struct spec *spec)
{
	*spec = (struct spec) { 0 };
	for (;; p++) {
		if (*p == '-')
			spec->left = true;
		else if (*p == '0')
			spec->zero = true;
		else
			break;
	}
	p = read_number(p, &spec->width);
	if (*p == '.') {
		spec->has_precision = true;
		p = read_number(p + 1, &spec->precision);
	}
	p = read_length(p, spec);
	spec->letter = *p == 'i' ? 'd' : *p;
	return *p == '\0' ? p : p + 1;
}

static intmax_t
signed_argument(const struct spec *spec, va_list *args)
{
	intmax_t value = spec->bytes == sizeof(intmax_t)
	    ? va_arg(*args, intmax_t)
	    : va_arg(*args, int);

	if (spec->bytes == 1)
		value = ((value & 0xff) ^ 0x80) - 0x80; /* sign-extend */
	else if (spec->bytes == 2)
		value = (short)value;
	return value;
}

static uintmax_t
unsigned_argument(const struct spec *spec, va_list *args)
{
	uintmax_t value = spec->bytes == sizeof(intmax_t)
	    ? va_arg(*args, uintmax_t)
	    : va_arg(*args, unsigned);

	if (spec->bytes == 1)
		value = (unsigned char)value;
	else if (spec->bytes == 2)
		value = (unsigned short)value;
	return value;
}

static void
put_argument(struct sink *sink, const struct spec *spec, va_list *args)
{
	intmax_t value;

	switch (spec->letter) {
	case 's':
		put_string(sink, spec, va_arg(*args, const char *));
		break;
	case 'c':
		put(sink, (char)va_arg(*args, int));
		break;
	case 'd':
		value = signed_argument(spec, args);
		put_number(sink, spec,
		    value < 0 ? -(uintmax_t)value : (uintmax_t)value,
		    value < 0);
		break;
	case 'u':
	case 'x':
	case 'X':
		put_number(sink, spec, unsigned_argument(spec, args), false);
		break;
	case 'p':
		put(sink, '0');
		put(sink, 'x');
		put_number(sink, spec, (uintptr_t)va_arg(*args, void *), false);
		break;
	default: /* '%%', or a conversion that we do not know */
		put(sink, spec->letter);
		break;
	}
}

size_t
mu_text_vformat(char *buffer, size_t size, const char *format, va_list args)
{
	struct sink sink = { buffer, size, 0 };
	struct spec spec;
	va_list rest;

	va_copy(rest, args);
	while (*format != '\0') {
		if (*format != '%') {
			put(&sink, *format++);
			continue;
		}
		format = read_spec(format + 1, &spec);
		if (spec.letter != '\0')
			put_argument(&sink, &spec, &rest);
	}
	va_end(rest);
	if (size > 0)
		buffer[sink.length < size ? sink.length : size - 1] = '\0';
	return sink.length;
}

size_t
mu_text_format(char *buffer, size_t size, const char *format, ...)
{
	va_list args;
	size_t length;

	va_start(args, format);
	length = mu_text_vformat(buffer, size, format, args);
	va_end(args);
	return length;
}

void
mu_text_add(struct mu_text *text, const char *format, ...)
{
	size_t at = text->length < text->size ? text->length : text->size;
	va_list args;

	va_start(args, format);
	text->length +=
	    mu_text_vformat(text->size > at ? text->buffer + at : NULL,
		text->size - at, format, args);
	va_end(args);
}
