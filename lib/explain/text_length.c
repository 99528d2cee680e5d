#include "lib/explain/text_length.h"

#define TEXT_MIN ((size_t)4)        /* bytes; shorter ones waste nothing */
#define TEXT_MAX ((size_t)64 << 10) /* bytes */
#define SMALLEST ((size_t)24)       /* usable bytes of any block */
#define GRAIN ((size_t)16)          /* sizes of malloc differ by */
#define ADDRESS_BYTES 6             /* that are not zero, at most */

static bool
is_printable(unsigned char byte)
{
	return (byte >= ' ' && byte != 0x7f) || byte == '\t' || byte == '\n' ||
	    byte == '\r';
}

size_t
mu_block_text_length(const struct mu_block *block)
{
	size_t size = mu_range_size(block->range), length = 0;

	if (size > TEXT_MAX)
		return 0;
	while (
	    length < size && is_printable((unsigned char)block->view[length]))
		length++;
	if (length < TEXT_MIN || length == size || block->view[length] != '\0')
		return 0;
	return size <= SMALLEST || length + 1 > size - GRAIN ? length : 0;
}

bool
mu_block_is_plain_text(const struct mu_block *block)
{
	size_t i, length = mu_block_text_length(block);

	for (i = 0; i < length; i++)
		if ((unsigned char)block->view[i] > '~')
			return false;
	return length > ADDRESS_BYTES;
}
