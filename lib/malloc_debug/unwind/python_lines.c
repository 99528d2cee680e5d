#include "lib/malloc_debug/unwind/python_lines.h"

#include <stdbool.h>
#include <stdint.h>

#define NO_LINE (-128) /* of a range in 3.10's table */

/* Entries of locations: a byte with this bit, and others without. */
#define LOCATION_BEGIN 0x80
#define LOCATION_UNITS 7 /* less one, of 2 bytes of code */
#define CODE_ONE_LINE 10 /* to 12: 0 to 2 lines further */
#define CODE_NO_COLUMNS 13
#define CODE_LONG 14
#define CODE_NONE 15

#define VARINT_MORE 0x40
#define VARINT_BITS 6

static int
line_of_lnotab(
    const unsigned char *table, size_t size, int line, size_t position)
{
	size_t i, end = 0;

	for (i = 0; i + 1 < size; i += 2) {
		end += table[i];
		if (end > position)
			break;
		line += (int8_t)table[i + 1];
	}
	return line;
}

static int
line_of_lines(
    const unsigned char *table, size_t size, int line, size_t position)
{
	size_t i, end = 0;

	for (i = 0; i + 1 < size; i += 2) {
		end += table[i];
		if ((int8_t)table[i + 1] != NO_LINE)
			line += (int8_t)table[i + 1];
		if (position < end)
			return (int8_t)table[i + 1] == NO_LINE ? 0 : line;
	}
	return 0;
}

/* The number at TABLE, of which LEFT bytes are left; its lowest bit is a sign.
 */
static int
signed_varint(const unsigned char *table, size_t left)
{
	unsigned value = 0, shift = 0;
	size_t i;

	for (i = 0; i < left && shift < 30; i++, shift += VARINT_BITS) {
		value |= (table[i] & (VARINT_MORE - 1u)) << shift;
		if ((table[i] & VARINT_MORE) == 0)
			break;
	}
	return (value & 1) != 0 ? -(int)(value >> 1) : (int)(value >> 1);
}

static int
line_of_locations(
    const unsigned char *table, size_t size, int line, size_t position)
{
	size_t i = 0, end = 0;
	unsigned code;

	while (i < size) {
		code = table[i] >> 3 & 15;
		end += 2 * ((table[i] & LOCATION_UNITS) + (size_t)1);
		i++;
		if (code == CODE_NO_COLUMNS || code == CODE_LONG)
			line += signed_varint(&table[i], size - i);
		else if (code >= CODE_ONE_LINE && code < CODE_NO_COLUMNS)
			line += (int)code - CODE_ONE_LINE;
		if (position < end)
			return code == CODE_NONE ? 0 : line;
		while (i < size && (table[i] & LOCATION_BEGIN) == 0)
			i++;
	}
	return 0;
}

int
python_line(enum python_table kind, const unsigned char *table, size_t size,
    int first, size_t position)
{
	if (kind == PYTHON_LNOTAB)
		return line_of_lnotab(table, size, first, position);
	if (kind == PYTHON_LINES)
		return line_of_lines(table, size, first, position);
	return line_of_locations(table, size, first, position);
}
