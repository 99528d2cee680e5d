#include "lib/types/python_object.h"

#include "lib/types/block_size.h"

#include <stdio.h>
#include <string.h>

#define WORD sizeof(uintptr_t)
#define META_MAX 4 /* classes of classes of ... */

/* Py_TPFLAGS_... in Include/object.h of CPython */
#define FLAG_PREHEADER ((uintptr_t)3 << 3)     /* since 3.11, 3.12 */
#define FLAG_INLINE_VALUES ((uintptr_t)1 << 2) /* since 3.13 */
#define FLAG_READY ((uintptr_t)1 << 12)
#define FLAG_READYING ((uintptr_t)1 << 13)
#define FLAG_HAVE_GC ((uintptr_t)1 << 14)
#define FLAG_TYPE_SUBCLASS ((uintptr_t)1 << 31)

#define FLAG_NUMBER_SUBCLASS ((uintptr_t)1 << 24)
#define FLAG_TUPLE_SUBCLASS ((uintptr_t)1 << 26)
#define FLAG_TEXT_SUBCLASS ((uintptr_t)1 << 28)

/*
 * PyLongObject: until 3.11 the word has the number of digits, negative for a
 * number below 0; since 3.12 eight times that, and 2 if the number is below 0.
 */
#define NUMBER_SIZE 2 /* words from the object */
#define NUMBER_DIGIT 3
#define ONE_NEW 8
#define BELOW_NEW 2

/*
 * Bits of PyASCIIObject's state, and where the letters of a compact text begin:
 * until 3.11 there is one pointer more in all texts, and a number in others.
 */
#define TEXT_LENGTH MU_PYTHON_LENGTH
#define TEXT_STATE MU_PYTHON_TEXT_STATE
#define TEXT_COMPACT (1u << 5)
#define TEXT_ASCII (1u << 6)
#define ASCII_OLD 48
#define ASCII_NEW 40
#define WIDE_OLD 72
#define WIDE_NEW 56

#define FIELDS_MAX 256 /* bytes of an object in which a pointer may be */
#define PAGE ((uintptr_t)4096)
#define USES_MAX ((uintptr_t)1 << 28)
#define GC_HEAD 16 /* bytes before a collected object */
#define PREHEADER (MU_PYTHON_BEFORE - GC_HEAD)

/*
 * _PyGC_REFS_UNTRACKED, -2, to _PyGC_REFS_TENTATIVELY_UNREACHABLE, -4, in the
 * third word of the collector's, above the bit _PyGC_REFS_MASK_FINALIZED.
 */
#define OLD_REFS 2
#define OLD_STATE_FIRST ((uintptr_t)-8)
#define OLD_STATE_LAST ((uintptr_t)-3)

bool
mu_python_class_ready(const struct mu_python_class *class)
{
	return class->refcnt != 0 &&
	    (class->flags & (FLAG_READY | FLAG_READYING)) == FLAG_READY &&
	    class->basicsize >= 2 * WORD && class->basicsize < INT32_MAX;
}

size_t
mu_python_class_before(const struct mu_python_class *class)
{
	size_t before = (class->flags & FLAG_HAVE_GC) != 0 ? GC_HEAD : 0;

	return before + ((class->flags & FLAG_PREHEADER) != 0 ? PREHEADER : 0);
}

bool
mu_python_is_old_head(const uintptr_t *head)
{
	return head[OLD_REFS] >= OLD_STATE_FIRST &&
	    head[OLD_REFS] <= OLD_STATE_LAST;
}

bool
mu_python_class_fits(
    const struct mu_python_class *class, const uintptr_t *head, size_t before)
{
	return mu_python_class_before(class) == before ||
	    (before == MU_PYTHON_BEFORE &&
		mu_python_class_before(class) == GC_HEAD &&
		mu_python_is_old_head(head));
}

size_t
mu_python_class_values(const struct mu_python_class *class)
{
	/* PyDictValues begins with four numbers of a byte. */
	return (class->flags & FLAG_INLINE_VALUES) != 0
	    ? class->basicsize + WORD
	    : 0;
}

static bool
read_type(const struct mu_symbols *symbols, uintptr_t at,
    struct mu_python_class *type)
{
	return at % WORD == 0 &&
	    mu_symbols_read(symbols, at, type, sizeof(*type)) &&
	    mu_python_class_ready(type);
}

/* The bytes of the letter at TEXT, which is not ASCII; 0: invalid UTF-8. */
static size_t
letter_bytes(const unsigned char *text)
{
	size_t i, count;

	if (text[0] >= 0xc2 && text[0] <= 0xdf)
		count = 2;
	else if (text[0] >= 0xe0 && text[0] <= 0xef)
		count = 3;
	else if (text[0] >= 0xf0 && text[0] <= 0xf4)
		count = 4;
	else
		return 0;
	for (i = 1; i < count; i++)
		if ((text[i] & 0xc0) != 0x80)
			return 0;
	return count;
}

/*
 * Of an identifier, whose first character this is or not; its bytes, or 0.
 * CPython has a "method-wrapper", NumPy a "numpy.dtype[float64]".
 */
static size_t
character(const char *name, bool first)
{
	unsigned char c = (unsigned char)*name;

	if (c >= 0x80)
		return letter_bytes((const unsigned char *)name);
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
	    (!first &&
		((c >= '0' && c <= '9') || c == '-' || c == '[' || c == ']'));
}

bool
mu_python_is_name(const char *name)
{
	bool first = true;
	size_t bytes;

	for (; *name != '\0'; name += bytes) {
		bytes = character(name, first);
		if (bytes == 0 && (first || *name != '.'))
			return false;
		first = bytes == 0;
		bytes += bytes == 0;
	}
	return !first;
}

static bool
read_name(const struct mu_symbols *symbols, const struct mu_python_class *type,
    char name[MU_PYTHON_NAME])
{
	return mu_subject_string(symbols, type->name, name, MU_PYTHON_NAME) >
	    0 &&
	    mu_python_is_name(name);
}

/* True if AT is the type of all types, which is its own type. */
static bool
is_type_itself(struct mu_symbols *symbols, uintptr_t at,
    const struct mu_python_class *type)
{
	char name[MU_PYTHON_NAME];
	struct mu_symbol symbol;

	return type->type == at && (type->flags & FLAG_TYPE_SUBCLASS) != 0 &&
	    read_name(symbols, type, name) && strcmp(name, "type") == 0 &&
	    mu_symbols_find(symbols, at, &symbol) && symbol.function != NULL &&
	    strcmp(symbol.function, "PyType_Type") == 0;
}

/* True if TYPE is a class: its class, or the class of that ..., is "type". */
static bool
is_class(struct mu_symbols *symbols, struct mu_python_class type)
{
	uintptr_t at;
	int i;

	for (i = 0; i < META_MAX; i++) {
		at = type.type;
		if (!read_type(symbols, at, &type))
			return false;
		if (type.type == at)
			return is_type_itself(symbols, at, &type);
	}
	return false;
}

/* True if the text at OBJECT, whose letters are behind it, fills ROOM bytes. */
static bool
is_compact_text(const uintptr_t *object, size_t room)
{
	uint32_t state = (uint32_t)object[TEXT_STATE];
	size_t length = object[TEXT_LENGTH], letter = state >> 2 & 7;
	bool ascii = (state & TEXT_ASCII) != 0;

	if ((state & TEXT_COMPACT) == 0 || length > INT32_MAX ||
	    (letter != 1 && letter != 2 && letter != 4))
		return false;
	length = (length + 1) * letter;
	return mu_block_fits(length + (ascii ? ASCII_OLD : WIDE_OLD), room) ||
	    mu_block_fits(length + (ascii ? ASCII_NEW : WIDE_NEW), room);
}

bool
mu_python_is_plain(const char *name, const void *view, size_t room)
{
	static const char *const plain[] = { "bytes", "int", "float",
		"complex" };
	uintptr_t object[TEXT_STATE + 1];
	size_t i;

	for (i = 0; i < sizeof(plain) / sizeof(*plain); i++)
		if (strcmp(name, plain[i]) == 0)
			return true;
	if (strcmp(name, "str") != 0 || room < sizeof(object))
		return false;
	memcpy(object, view, sizeof(object));
	return (object[TEXT_STATE] & TEXT_ASCII) != 0 &&
	    is_compact_text(object, room);
}

/* A digit has 30 bits. */
static bool
read_number(const uintptr_t *object, struct mu_python_key *key)
{
	intptr_t size = (intptr_t)object[NUMBER_SIZE];
	uint64_t digits = object[NUMBER_DIGIT], low = (uint32_t)digits;
	uintptr_t count;
	bool below = size < 0;

	if (size >= ONE_NEW) {
		below = (size & BELOW_NEW) != 0;
		count = (uintptr_t)size / ONE_NEW;
	} else {
		count = below ? -(uintptr_t)size : (uintptr_t)size;
	}
	key->kind = MU_PYTHON_KEY_NUMBER;
	if (count > 1)
		low |= digits >> 32 << 30;
	key->number = below ? -(int64_t)low : (int64_t)low;
	/* Until 3.11 a number of two digits has 2, since 3.12 0 has 1. */
	return count <= 2;
}

/* True if WORD may be the first letters of a text with LENGTH letters of ASCII,
 * none of which is NUL. */
static bool
is_ascii(uintptr_t word, size_t length)
{
	size_t i;

	for (i = 0; i < WORD && i < length; i++, word >>= 8)
		if ((word & 0xff) == 0 || (word & 0x80) != 0)
			return false;
	return length >= WORD || (word & 0xff) == 0;
}

/*
 * Where the letters of the compact text at ADDRESS begin. Until 3.11 word 5 is
 * a pointer, mostly 0, before the letters of one that is ASCII. In others words
 * 5 to 8 are until 3.11 a pointer to the same letters or 0, the length and
 * address as UTF-8, and a length; since 3.12 only the middle ones are there,
 * and then the first letters, which are not 0.
 */
static size_t
find_letters(const uintptr_t *object, uintptr_t address, bool ascii)
{
	const uintptr_t *more = object + TEXT_STATE + 1;

	if (ascii)
		return is_ascii(more[0], object[TEXT_LENGTH]) ? ASCII_NEW
							      : ASCII_OLD;
	if (more[0] == address + WIDE_OLD)
		return WIDE_OLD;
	if (more[0] != 0)
		return WIDE_NEW;
	return more[1] == 0 && more[2] != 0 ? WIDE_NEW : WIDE_OLD;
}

size_t
mu_python_text_bytes(
    uintptr_t address, const uintptr_t words[MU_PYTHON_KEY_WORDS])
{
	uint32_t state = (uint32_t)words[TEXT_STATE];
	size_t length = words[TEXT_LENGTH], letter = state >> 2 & 7;

	return (state & TEXT_COMPACT) == 0 || length > INT32_MAX
	    ? 0
	    : find_letters(words, address, (state & TEXT_ASCII) != 0) +
		(length + 1) * letter;
}

bool
mu_python_key_read(const struct mu_python_class *class, uintptr_t address,
    const uintptr_t words[MU_PYTHON_KEY_WORDS], struct mu_python_key *key)
{
	uint32_t state = (uint32_t)words[TEXT_STATE];

	*key = (struct mu_python_key) {
		.length = words[MU_PYTHON_LENGTH],
		.letter = state >> 2 & 7,
	};
	if (!mu_python_class_ready(class))
		return false;
	if ((class->flags & FLAG_NUMBER_SUBCLASS) != 0)
		return read_number(words, key);
	if (key->length > INT32_MAX)
		return false;
	key->kind = MU_PYTHON_KEY_TUPLE;
	key->at = MU_PYTHON_ITEMS * WORD;
	if ((class->flags & FLAG_TUPLE_SUBCLASS) != 0)
		return true;
	key->kind = MU_PYTHON_KEY_TEXT;
	key->at = find_letters(words, address, (state & TEXT_ASCII) != 0);
	return (class->flags & FLAG_TEXT_SUBCLASS) != 0 &&
	    (state & TEXT_COMPACT) != 0 && key->length > 0 &&
	    (key->letter == 1 || key->letter == 2 || key->letter == 4);
}

/* True if an object of CLASS may be at OBJECT, in COUNT words and ROOM bytes.
 */
static bool
has_room(const struct mu_python_class *class, const uintptr_t *object,
    size_t count, size_t room)
{
	return class->basicsize <= room ||
	    ((class->flags & FLAG_TEXT_SUBCLASS) != 0 && count > TEXT_STATE &&
		is_compact_text(object, room));
}

bool
mu_python_object_find(struct mu_symbols *symbols,
    const struct mu_block_head *head, char name[MU_PYTHON_NAME],
    struct mu_type *type)
{
	struct mu_python_class class;
	size_t before;

	/* A type has no less than two words; see also PyObject_HEAD. */
	for (before = 0; before <= MU_PYTHON_BEFORE; before += 16) {
		if (before / WORD + 2 > head->count ||
		    head->words[before / WORD] == 0 ||
		    !read_type(symbols, head->words[before / WORD + 1], &class))
			continue;
		if (!mu_python_class_fits(&class, head->words, before) ||
		    !has_room(&class, &head->words[before / WORD],
			head->count - before / WORD, head->size - before) ||
		    !is_class(symbols, class) ||
		    !read_name(symbols, &class, name))
			continue;
		*type = (struct mu_type) {
			.name = name,
			.source = MU_TYPE_TAG,
			.counter = MU_COUNTER_PYTHON,
			.certain = true,
			.offset = before,
		};
		return true;
	}
	return false;
}

bool
mu_python_part_find(struct mu_symbols *symbols, uintptr_t at,
    char name[MU_PYTHON_NAME], struct mu_type *type)
{
	char of[MU_PYTHON_NAME - sizeof(MU_PYTHON_PART_OF)];
	uintptr_t head[FIELDS_MAX / WORD]; /* ob_refcnt, ob_type ... the word */
	struct mu_python_class class;
	size_t i, count = FIELDS_MAX / WORD;

	/* The page before may not be there. */
	if (at % WORD != 0 ||
	    !mu_symbols_read(symbols, at - sizeof(head), head, sizeof(head)))
		count = at % PAGE / WORD;
	if (at % WORD != 0 || count > FIELDS_MAX / WORD ||
	    !mu_symbols_read(symbols, at - count * WORD, head, count * WORD))
		return false;
	for (i = count; i-- > 1;) {
		/* HEAD[i - 1] would be ob_refcnt, HEAD[i] ob_type. */
		if (head[i - 1] == 0 || (head[i - 1] & UINT32_MAX) > USES_MAX ||
		    !read_type(symbols, head[i], &class) ||
		    class.basicsize < (count - i + 2) * WORD ||
		    !is_class(symbols, class) ||
		    mu_subject_string(symbols, class.name, of, sizeof(of)) ==
			0 ||
		    !mu_python_is_name(of))
			continue;
		snprintf(name, MU_PYTHON_NAME, MU_PYTHON_PART_OF "%s", of);
		*type =
		    (struct mu_type) { .name = name, .source = MU_TYPE_TAG };
		return true;
	}
	return false;
}

bool
mu_python_is_there(const struct mu_symbols *symbols)
{
	return mu_symbols_has_file(symbols, "/libpython3.") ||
	    mu_symbols_has_file(symbols, "/python3");
}
