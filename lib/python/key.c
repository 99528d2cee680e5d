#include "lib/python/key.h"

#include <string.h>

#include "heapwalk/subject/saved.h"
#include "lib/python/class.h"
#include "mu/text.h"

#define WORD sizeof(uintptr_t)
#define LETTERS_SHOWN ((size_t)40)
#define ITEMS_SHOWN ((size_t)4) /* of a tuple */
#define DEPTH 2                 /* of tuples in each other */

/* An object may be shorter than what is read of a long one. */
static bool
read_key(const struct mu_snapshot *snap, uintptr_t address,
    struct mu_python_key *key)
{
	uintptr_t words[MU_PYTHON_KEY_WORDS] = { 0 };
	struct mu_python_class class;
	size_t i;

	for (i = 0; i < MU_PYTHON_KEY_WORDS; i++)
		if (!mu_snapshot_word(snap, address + i * WORD, &words[i]))
			break;
	return i > MU_PYTHON_LENGTH && !mu_snapshot_lacks_numbers(snap) &&
	    mu_python_class_read(snap, words[MU_PYTHON_CLASS], &class) &&
	    mu_python_key_read(&class, address, words, key);
}

static void
add_utf8(struct mu_text *text, uint32_t code)
{
	if (code < 0x80)
		mu_text_add(text, "%c", (int)code);
	else if (code < 0x800)
		mu_text_add(text, "%c%c", (int)(0xc0 | code >> 6),
		    (int)(0x80 | (code & 0x3f)));
	else if (code < 0x10000)
		mu_text_add(text, "%c%c%c", (int)(0xe0 | code >> 12),
		    (int)(0x80 | (code >> 6 & 0x3f)),
		    (int)(0x80 | (code & 0x3f)));
	else
		mu_text_add(text, "%c%c%c%c", (int)(0xf0 | code >> 18),
		    (int)(0x80 | (code >> 12 & 0x3f)),
		    (int)(0x80 | (code >> 6 & 0x3f)),
		    (int)(0x80 | (code & 0x3f)));
}

/* What str.isprintable() denies of what texts have, and all that is no letter
 * of Unicode: lines of a table of ranges. */
static bool
is_printable(uint32_t code)
{
	static const uint32_t others[][2] = { { 0, 0x1f }, { 0x7f, 0xa0 },
		{ 0xad, 0xad }, { 0x600, 0x605 }, { 0x61c, 0x61c },
		{ 0x6dd, 0x6dd }, { 0x70f, 0x70f }, { 0x1680, 0x1680 },
		{ 0x180e, 0x180e }, { 0x2000, 0x200f }, { 0x2028, 0x202f },
		{ 0x205f, 0x206f }, { 0x3000, 0x3000 }, { 0xd800, 0xf8ff },
		{ 0xfeff, 0xfeff }, { 0xfff0, 0xfffb }, { 0xfffe, 0xffff },
		{ 0xe0000, UINT32_MAX } };
	size_t i;

	for (i = 0; i < sizeof(others) / sizeof(*others); i++)
		if (code >= others[i][0] && code <= others[i][1])
			return false;
	return true;
}

static void
add_letter(struct mu_text *text, uint32_t code)
{
	if (code == '\\' || code == '"')
		mu_text_add(text, "\\%c", (int)code);
	else if (code == '\n' || code == '\r' || code == '\t')
		mu_text_add(text, "\\%c",
		    code == '\n'       ? 'n'
			: code == '\r' ? 'r'
				       : 't');
	else if (is_printable(code))
		add_utf8(text, code);
	else if (code < 0x100)
		mu_text_add(text, "\\x%02x", (unsigned)code);
	else if (code < 0x10000)
		mu_text_add(text, "\\u%04x", (unsigned)code);
	else
		mu_text_add(text, "\\U%08x", (unsigned)code);
}

/* Its first letters; false: they cannot be read. */
static bool
add_letters(const struct mu_snapshot *snap, uintptr_t address,
    const struct mu_python_key *key, struct mu_text *text)
{
	size_t i, shown = key->length;
	const void *view;
	uint32_t code;

	if (shown > LETTERS_SHOWN)
		shown = LETTERS_SHOWN;
	for (i = 0; i < shown; i++) {
		code = 0;
		view = mu_snapshot_view(
		    snap, address + key->at + i * key->letter, key->letter);
		/* Both CPUs have the lowest byte first. */
		if (view == NULL)
			return false;
		memcpy(&code, view, key->letter);
		add_letter(text, code);
	}
	return true;
}

static bool add_key(const struct mu_snapshot *snap, uintptr_t address,
    unsigned depth, struct mu_text *text);

/* An item that is not known is "?"; false: none is known. */
static bool
add_items(const struct mu_snapshot *snap, uintptr_t address,
    const struct mu_python_key *key, unsigned depth, struct mu_text *text)
{
	size_t i, before;
	uintptr_t item;
	bool known = key->length == 0;

	mu_text_add(text, "(");
	for (i = 0; i < key->length && i < ITEMS_SHOWN; i++) {
		mu_text_add(text, "%s", i > 0 ? ", " : "");
		before = text->length;
		if (mu_snapshot_word(
			snap, address + key->at + i * WORD, &item) &&
		    depth > 0 && add_key(snap, item, depth - 1, text)) {
			known = true;
			continue;
		}
		text->length = before;
		mu_text_add(text, "?");
	}
	mu_text_add(text, "%s)",
	    key->length > ITEMS_SHOWN ? ", ..."
		: key->length == 1    ? ","
				      : "");
	return known;
}

/* Tuples are at most DEPTH deep. */
static bool
add_key(const struct mu_snapshot *snap, uintptr_t address, unsigned depth,
    struct mu_text *text)
{
	struct mu_python_key key;

	if (!read_key(snap, address, &key))
		return false;
	if (key.kind == MU_PYTHON_KEY_TUPLE)
		return add_items(snap, address, &key, depth, text);
	if (key.kind == MU_PYTHON_KEY_NUMBER) {
		mu_text_add(text, "%lld", (long long)key.number);
		return true;
	}
	mu_text_add(text, "\"");
	if (!add_letters(snap, address, &key, text))
		return false;
	mu_text_add(text, "%s", key.length > LETTERS_SHOWN ? "..." : "\"");
	return true;
}

/* Cut what has no room, after a whole character. */
static void
end_text(struct mu_text *text)
{
	static const char more[] = "...";
	size_t at = text->size - sizeof(more);

	if (text->length < text->size)
		return;
	while (at > 0 && ((unsigned char)text->buffer[at] & 0xc0) == 0x80)
		at--;
	memcpy(text->buffer + at, more, sizeof(more));
}

bool
mu_python_key_text(
    const struct mu_snapshot *snap, uintptr_t address, char text[MU_PYTHON_KEY])
{
	struct mu_text to = { text, MU_PYTHON_KEY, 0 };
	bool known;

	text[0] = '\0';
	known = add_key(snap, address, DEPTH, &to);
	end_text(&to);
	return known;
}

bool
mu_python_attribute_text(
    const struct mu_snapshot *snap, uintptr_t address, char text[MU_PYTHON_KEY])
{
	struct mu_text to = { text, MU_PYTHON_KEY, 0 };
	struct mu_python_key key;

	text[0] = '\0';
	if (!read_key(snap, address, &key) || key.kind != MU_PYTHON_KEY_TEXT ||
	    !add_letters(snap, address, &key, &to))
		return false;
	if (key.length > LETTERS_SHOWN)
		mu_text_add(&to, "...");
	end_text(&to);
	return true;
}
