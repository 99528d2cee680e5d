/*
 * Numbers as bytes that memcmp() orders as the numbers are ordered: 1 byte for
 * those below 128, up to 9. The ones that the first byte begins with are as
 * many as the bytes that follow it.
 *
 * Pure.
 */
#ifndef LIB_VIEW_CODE_H
#define LIB_VIEW_CODE_H

#include <stddef.h>
#include <stdint.h>

#define MU_CODE_MAX 9 /* bytes */

/* Write VALUE to AT. Returns the end of it. */
static inline unsigned char *
mu_code_put(unsigned char *at, uint64_t value)
{
	unsigned more = 0, i;

	while (more < 8 && value >> (7 * (more + 1)) != 0)
		more++;
	for (i = more; i > 0; i--, value >>= 8)
		at[i] = (unsigned char)value;
	at[0] = (unsigned char)(0xff00 >> more | value);
	return at + more + 1;
}

/* Read VALUE from AT. Returns the end of it. */
static inline const unsigned char *
mu_code_take(const unsigned char *at, uint64_t *value)
{
	unsigned first = *at++, more = 0;

	while (more < 8 && (first & 0x80 >> more) != 0)
		more++;
	*value = first & 0x7f >> more;
	for (; more > 0; more--)
		*value = *value << 8 | *at++;
	return at;
}

#endif
