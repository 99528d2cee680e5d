#include "lib/types/qt_block.h"

#include <string.h>

#include "lib/types/block_size.h"
#include "lib/types/declared.h"

#define USES_MAX ((uint32_t)1 << 24)
#define ELEMENT_MAX 64 /* bytes of one in a vector that is recognised */
#define LETTER 2       /* bytes, of QString */
#define LETTERS_SEEN 8

/* Qt 5: int ref, int size, uint alloc : 31, qptrdiff offset. */
struct array5 {
	uint32_t ref, size, alloc, padding;
	uint64_t offset;
};

/* Qt 6: int ref, flags, qsizetype alloc. */
struct array6 {
	uint32_t ref, flags;
	uint64_t alloc;
};

#define FLAGS_MAX 1 /* CapacityReserved */

/* Qt 5: int ref, alloc, begin, end; then pointers or small elements. */
struct list5 {
	uint32_t ref, alloc, begin, end;
};

static bool
is_count(uint32_t ref)
{
	return ref >= 1 && ref <= USES_MAX;
}

/* Bytes of an element if ALLOC behind HEADER bytes fill the block; or 0. */
static size_t
element_of(const struct mu_block_head *head, size_t header, uint64_t alloc)
{
	size_t size = 1;

	if (alloc == 0 || alloc > head->size)
		return 0;
	while (size < ELEMENT_MAX &&
	    !mu_block_fits(header + alloc * size, head->size))
		size *= 2;
	return mu_block_fits(header + alloc * size, head->size) ? size : 0;
}

/* True if COUNT letters of UTF-16 at TEXT, or the first ones, are Latin. */
static bool
is_latin(const uint16_t *text, size_t count)
{
	size_t i;

	for (i = 0; i < count && i < LETTERS_SEEN; i++)
		if (text[i] < ' ' || text[i] > 0x17f)
			return false;
	return count > 0;
}

static const char *
name_array(const struct mu_block_head *head, size_t header, size_t size,
    uint64_t alloc)
{
	const uint16_t *text =
	    (const uint16_t *)(const void *)((const char *)head->words +
		header);
	size_t element = element_of(head, header, alloc), seen;

	if (element == 0)
		return NULL;
	seen = head->count * sizeof(*head->words);
	seen = seen < header ? 0 : (seen - header) / LETTER;
	if (mu_block_fits(header + alloc * LETTER, head->size) &&
	    is_latin(text, size < seen ? size : seen))
		return "QArrayData of a QString";
	return "QArrayData";
}

static const char *
find_name(unsigned version, const struct mu_block_head *head)
{
	struct array5 array5;
	struct array6 array6;
	struct list5 list;

	if (head->count * sizeof(*head->words) < sizeof(array5))
		return NULL;
	memcpy(&array5, head->words, sizeof(array5));
	memcpy(&array6, head->words, sizeof(array6));
	memcpy(&list, head->words, sizeof(list));
	if (!is_count(array5.ref))
		return NULL;
	/* Its size is not in the block. */
	if (version == 6)
		return array6.flags > FLAGS_MAX
		    ? NULL
		    : name_array(
			  head, sizeof(array6), LETTERS_SEEN, array6.alloc);
	if (array5.offset == sizeof(array5) &&
	    array5.size <= (array5.alloc & INT32_MAX))
		return name_array(head, sizeof(array5), array5.size,
		    array5.alloc & INT32_MAX);
	if (list.begin <= list.end && list.end <= list.alloc &&
	    list.alloc > 0 && list.alloc <= head->size &&
	    mu_block_fits(
		sizeof(list) + list.alloc * sizeof(void *), head->size))
		return "QListData::Data";
	return NULL;
}

static unsigned
find_version(const struct mu_symbols *symbols)
{
	if (mu_symbols_has_file(symbols, "/libQt5Core.so"))
		return 5;
	return mu_symbols_has_file(symbols, "/libQt6Core.so") ? 6 : 0;
}

bool
mu_qt_block_find(struct mu_qt_blocks *blocks, const struct mu_symbols *symbols,
    const struct mu_block_head *head, struct mu_type *type)
{
	const char *name;

	if (!blocks->asked)
		blocks->version = find_version(symbols);
	blocks->asked = true;
	name = blocks->version == 0 ? NULL : find_name(blocks->version, head);
	if (name == NULL)
		return false;
	*type = (struct mu_type) { .name = name, .source = MU_TYPE_CONTAINER };
	return true;
}
