/* Read DWARF numbers. */
#include "lib/malloc_debug/unwind/table.h"

uint64_t
unwind_take(struct unwind_bytes *bytes, size_t size)
{
	uint64_t value = 0;
	size_t i;

	if ((size_t)(bytes->end - bytes->at) < size) {
		bytes->bad = true;
		bytes->at = bytes->end;
		return 0;
	}
	for (i = 0; i < size; i++)
		value |= (uint64_t)bytes->at[i] << 8 * i;
	bytes->at += size;
	return value;
}

/* Bits after the 64th are dropped; *SHIFT is where the number ended. */
static uint64_t
take_leb(struct unwind_bytes *bytes, unsigned *shift, uint8_t *last)
{
	uint64_t value = 0;

	*shift = 0;
	do {
		*last = (uint8_t)unwind_take(bytes, 1);
		if (*shift < 64)
			value |= (uint64_t)(*last & 0x7f) << *shift;
		*shift += 7;
	} while ((*last & 0x80) != 0 && *shift < 140);
	return value;
}

uint64_t
unwind_take_uleb(struct unwind_bytes *bytes)
{
	unsigned shift;
	uint8_t last;

	return take_leb(bytes, &shift, &last);
}

int64_t
unwind_take_sleb(struct unwind_bytes *bytes)
{
	unsigned shift;
	uint8_t last;
	uint64_t value = take_leb(bytes, &shift, &last);

	if (shift < 64 && (last & 0x40) != 0)
		value |= ~(uint64_t)0 << shift;
	return (int64_t)value;
}

struct unwind_bytes
unwind_take_block(struct unwind_bytes *bytes, uint64_t size)
{
	struct unwind_bytes block = { bytes->at, bytes->at, false };

	if ((uint64_t)(bytes->end - bytes->at) < size) {
		bytes->bad = true;
		size = (uint64_t)(bytes->end - bytes->at);
	}
	block.end += size;
	bytes->at += size;
	return block;
}
