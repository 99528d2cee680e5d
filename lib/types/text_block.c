#include "lib/types/text_block.h"

#include <bsd/string.h>
#include <string.h>

#define TEXT_MIN 4
#define LONG_TEXT 16     /* bytes: hardly by chance */
#define UNUSED_MAX 32    /* bytes at the end that malloc() adds at most */
#define POINTER_SIZE 64u /* bytes; larger blocks have more than a pointer */

/* The length of the character at BYTES, 0 if it is none of a text. */
static size_t
character(const unsigned char *bytes, size_t count)
{
	size_t i, length;

	if (bytes[0] < 0x80)
		return (bytes[0] >= ' ' && bytes[0] < 0x7f) ||
		    (bytes[0] >= '\t' && bytes[0] <= '\r');
	if (bytes[0] < 0xc2 || bytes[0] > 0xf4)
		return 0;
	length = bytes[0] >= 0xf0 ? 4 : bytes[0] >= 0xe0 ? 3 : 2;
	for (i = 1; i < length && i < count; i++)
		if ((bytes[i] & 0xc0) != 0x80)
			return 0;
	return i;
}

size_t
mu_text_characters(const unsigned char *bytes, size_t count)
{
	size_t length = 0, more;

	while (length < count && bytes[length] != '\0') {
		more = character(bytes + length, count - length);
		if (more == 0)
			return 0;
		length += more;
	}
	return length;
}

size_t
mu_text_block_length(const unsigned char *bytes, size_t count)
{
	size_t length = mu_text_characters(bytes, count);

	return length < TEXT_MIN ? 0 : length;
}

static bool
is_zero(const unsigned char *bytes, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++)
		if (bytes[i] != 0)
			return false;
	return true;
}

void
mu_text_copy(
    const unsigned char *bytes, size_t length, char text[MU_TYPE_TEXT_MAX + 4])
{
	size_t kept = length > MU_TYPE_TEXT_MAX ? MU_TYPE_TEXT_MAX : length;

	/* Cut before a character, not inside. */
	while (kept < length && kept > 0 && (bytes[kept] & 0xc0) == 0x80)
		kept--;
	memcpy(text, bytes, kept);
	strlcpy(text + kept, kept < length ? "..." : "",
	    MU_TYPE_TEXT_MAX + 4 - kept);
}

/*
 * The block was made for the text, or for more of the kind; otherwise a few
 * letters may be anything.
 */
static bool
is_filled(const struct mu_block_head *head, size_t length)
{
	const unsigned char *bytes = (const unsigned char *)head->words;
	size_t count = head->count * sizeof(*head->words);

	return length >= LONG_TEXT || length + 1 + UNUSED_MAX > head->size ||
	    is_zero(bytes + length, count - length);
}

/* True if no word but the first can be a pointer. */
static bool
has_one_pointer(
    const struct mu_symbols *symbols, const struct mu_block_head *head)
{
	unsigned char byte;
	size_t i;

	if (head->size > POINTER_SIZE)
		return false;
	for (i = 1; i < head->count; i++)
		if (mu_symbols_read(symbols, head->words[i], &byte, 1))
			return false;
	return true;
}

/* A pointer may consist of letters, too: it has at most 6 bytes. */
static bool
is_pointer(const struct mu_symbols *symbols, const struct mu_block_head *head,
    size_t length)
{
	unsigned char byte;

	return length < sizeof(*head->words) &&
	    mu_symbols_read(symbols, head->words[0], &byte, 1);
}

bool
mu_text_block_find(struct mu_symbols *symbols, const struct mu_block_head *head,
    char text[MU_TYPE_TEXT_MAX + 4], struct mu_type *type)
{
	const unsigned char *bytes = (const unsigned char *)head->words;
	size_t length =
	    mu_text_block_length(bytes, head->count * sizeof(*head->words));

	if (length == 0 || !is_filled(head, length) ||
	    is_pointer(symbols, head, length))
		return false;
	mu_text_copy(bytes, length, text);
	*type = (struct mu_type) {
		.name = "text",
		.text = text,
		.source = MU_TYPE_CONTENT,
	};
	return true;
}

bool
mu_text_pointer_find(struct mu_symbols *symbols,
    const struct mu_block_head *head, char text[MU_TYPE_TEXT_MAX + 4],
    struct mu_type *type)
{
	unsigned char target[2 * MU_TYPE_TEXT_MAX];
	const struct mu_mapping *mapping;
	size_t length;

	if (mu_symbols_in_file(symbols, head->words[0], &mapping) ||
	    !has_one_pointer(symbols, head))
		return false;
	length = mu_text_block_length(target,
	    mu_subject_bytes(symbols, head->words[0], target, sizeof(target)));
	if (length == 0)
		return false;
	mu_text_copy(target, length, text);
	*type = (struct mu_type) {
		.name = "pointer to text",
		.text = text,
		.source = MU_TYPE_CONTENT,
	};
	return true;
}
