#include "lib/types/counted_text.h"

#include <string.h>

#include "lib/types/text_block.h"

#define KINDS 5      /* SDS_TYPE_5, _8, _16, _32, _64 */
#define KIND_BITS 7u /* SDS_TYPE_5 has the length above them */
/* Bytes at the end that an allocator adds; jemalloc up to a quarter. */
#define UNUSED_MAX(size) (32 + (size) / 4)
#define OBJECT_SIZE 16u /* struct redisObject up to Redis 8 */
#define OBJECT_TEXT 3u  /* the text behind a header of SDS_TYPE_8 */
#define TEXT_MIN 4u     /* characters, in SDS_TYPE_5 */

struct counted {
	const unsigned char *text;
	size_t length, room; /* bytes without the NUL */
	size_t read;         /* bytes of the text that were read */
};

/*
 * The header of KIND is length, room and flags, without padding; that of
 * SDS_TYPE_5 the flags alone.
 */
static bool
read_header(const unsigned char *bytes, size_t count, unsigned kind,
    struct counted *counted)
{
	size_t width = kind == 0 ? 0 : (size_t)1 << (kind - 1);
	size_t header = 2 * width + 1;
	unsigned bits = kind == 0 ? KIND_BITS : 0xff;

	if (count <= header || (bytes[header - 1] & bits) != kind)
		return false;
	*counted =
	    (struct counted) { .text = bytes + header, .read = count - header };
	memcpy(&counted->length, bytes, width);
	memcpy(&counted->room, bytes + width, width);
	if (kind == 0)
		counted->length = counted->room = bytes[0] >> 3;
	return true;
}

/* The block was made for the room, and a NUL follows the text. */
static bool
fits(const struct counted *counted, size_t size)
{
	return counted->length <= counted->room && counted->room < size &&
	    size - counted->room <= UNUSED_MAX(size) &&
	    (counted->length >= counted->read ||
		counted->text[counted->length] == '\0');
}

/* The bytes of the text that were read. */
static size_t
length_read(const struct counted *counted)
{
	return counted->length < counted->read ? counted->length
					       : counted->read;
}

/*
 * Five characters and a NUL behind SDS_TYPE_5 may be an address: x86-64 places
 * position-independent programs, and with them their heaps, from 0x55... to
 * 0x65... (ELF_ET_DYN_BASE, and up to 32 random bits of pages). The two bytes
 * above are zero.
 */
static bool
may_be_address(const struct counted *counted)
{
	return counted->length == 5 && counted->text[4] >= 0x55 &&
	    counted->text[4] <= 0x65 && counted->read > 6 &&
	    counted->text[6] == 0;
}

/* The kind has few bits, and that of SDS_TYPE_5 is zero: the rest must fit. */
static bool
is_counted(const unsigned char *bytes, size_t count, size_t size, unsigned kind,
    struct counted *counted)
{
	size_t header;

	if (!read_header(bytes, count, kind, counted))
		return false;
	header = (size_t)(counted->text - bytes);
	return header < size && fits(counted, size - header) &&
	    counted->length >= (kind == 0 ? TEXT_MIN : 1) &&
	    !(kind == 0 && may_be_address(counted)) &&
	    mu_text_characters(counted->text, length_read(counted)) ==
	    length_read(counted);
}

/* An object has a pointer to its text behind itself. */
static bool
is_object(const struct mu_block_head *head)
{
	return head->size > OBJECT_SIZE && head->count > 1 &&
	    head->words[1] == head->begin + OBJECT_SIZE + OBJECT_TEXT;
}

bool
mu_counted_text_find(const struct mu_block_head *head,
    char text[MU_TYPE_TEXT_MAX + 4], struct mu_type *type)
{
	size_t before = is_object(head) ? OBJECT_SIZE : 0;
	const unsigned char *bytes =
	    (const unsigned char *)head->words + before;
	size_t count = head->count * sizeof(*head->words) - before;
	struct counted counted;
	unsigned kind;

	for (kind = 0; kind < KINDS; kind++) {
		if (!is_counted(
			bytes, count, head->size - before, kind, &counted))
			continue;
		mu_text_copy(counted.text, length_read(&counted), text);
		*type = (struct mu_type) {
			.name = before > 0 ? "redisObject with a text (sds)"
					   : "text (sds)",
			.text = text,
			.source = MU_TYPE_CONTENT,
		};
		return true;
	}
	return false;
}
