/* lib/types/counted_text.h: texts of sds, and what only looks like one. */
#include "lib/types/counted_text.h"
#include "tests/support/suite.h"

static struct mu_block_head head;
static struct mu_type type;
static char text[MU_TYPE_TEXT_MAX + 4];

/* A block of SIZE bytes at 0x10000, all of them SIZE + 1. */
static unsigned char *
block(size_t size)
{
	head.begin = 0x10000;
	head.size = size;
	head.count = (size < MU_BLOCK_HEAD ? size : MU_BLOCK_HEAD) / 8;
	memset(head.words, (int)size + 1, sizeof(head.words));
	text[0] = '\0';
	return (unsigned char *)head.words;
}

/* The header of KIND with WIDTH bytes each, and the text behind it. */
static void
put(unsigned char *at, unsigned kind, size_t width, const char *words,
    size_t room)
{
	size_t length = strlen(words);

	memcpy(at, &length, width);
	memcpy(at + width, &room, width);
	at[2 * width] = (unsigned char)kind;
	memcpy(at + 2 * width + 1, words, length + 1);
}

static bool
is_counted(void)
{
	return mu_counted_text_find(&head, text, &type);
}

TEST(kinds)
{
	unsigned kind;

	for (kind = 1; kind < 5; kind++) {
		size_t width = (size_t)1 << (kind - 1);

		put(block(48), kind, width, "a value", 48 - 2 * width - 2);
		ck_assert(is_counted());
		ck_assert_str_eq(type.name, "text (sds)");
		ck_assert_str_eq(text, "a value");
		ck_assert(!type.certain);
		/* as before Redis 6.2 */
		put(block(24), kind, width, "1", 1);
		ck_assert(is_counted());
	}
}

TEST(short_kind)
{
	unsigned char *at = block(16);

	at[0] = 10 << 3;
	memcpy(at + 1, "user:1\xc3\xa4:n", 11);
	ck_assert(is_counted());
	ck_assert_str_eq(text, "user:1\xc3\xa4:n");
	at[0] = 9 << 3;
	ck_assert(!is_counted());
	at = block(16);
	at[0] = 3 << 3;
	memcpy(at + 1, "abc", 4);
	ck_assert(!is_counted());
}

TEST(short_kind_or_address)
{
	unsigned char *at = block(24);

	memset(at, 0, 24);
	memcpy(at, "\x28key:1", 6);
	ck_assert(is_counted());
	head.words[0] = 0x564a5b6c4128;
	ck_assert(!is_counted());
	head.words[0] = 0x655555564128;
	ck_assert(!is_counted());
}

TEST(inside_an_object)
{
	put(block(64) + 16, 1, 1, "name of user", 44);
	head.words[1] = 0x10000 + 16 + 3;
	ck_assert(is_counted());
	ck_assert_str_eq(type.name, "redisObject with a text (sds)");
	ck_assert_str_eq(text, "name of user");
	head.words[1]++;
	ck_assert(!is_counted());
}

/* Only the first bytes of a block are read. */
TEST(longer_than_what_is_read)
{
	unsigned char *at = block(20000);
	uint16_t length = 18000, room = 19994;

	memset(at, 'x', MU_BLOCK_HEAD);
	memcpy(at, &length, 2);
	memcpy(at + 2, &room, 2);
	at[4] = 2;
	ck_assert(is_counted());
	ck_assert_uint_eq(strlen(text), MU_TYPE_TEXT_MAX + 3);
	at[4000] = 1;
	ck_assert(!is_counted());
}

TEST(others)
{
	unsigned char *at;
	size_t size;

	for (size = 8; size < 100; size += 8) {
		block(size);
		ck_assert(!is_counted());
		memset(head.words, 0, sizeof(head.words));
		ck_assert(!is_counted());
	}
	/* more than there is room for, than the block, far less than it */
	put(block(48), 1, 1, "a value", 6);
	ck_assert(!is_counted());
	put(block(48), 1, 1, "a value", 45);
	ck_assert(!is_counted());
	put(block(256), 1, 1, "a value", 40);
	ck_assert(!is_counted());
	/* no NUL, no text, another kind */
	at = block(48);
	put(at, 1, 1, "a value", 44);
	at[3 + 7] = 'x';
	ck_assert(!is_counted());
	at[3 + 7] = '\0';
	at[3 + 2] = 1;
	ck_assert(!is_counted());
	put(block(48), 9, 1, "a value", 44);
	ck_assert(!is_counted());
	put(block(48), 1, 1, "", 44);
	ck_assert(!is_counted());
}

SUITE();
