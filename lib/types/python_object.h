/*
 * Objects of CPython 3, which refer to their type; a type is an object, too,
 * whose type is "type", as that of "type" itself is.
 *
 * Runs in: the helper that finds names.
 */
#ifndef LIB_TYPES_PYTHON_OBJECT_H
#define LIB_TYPES_PYTHON_OBJECT_H

#include "lib/types/block_head.h"
#include "lib/types/subject.h"

#define MU_PYTHON_NAME 256  /* bytes, with the end */
#define MU_PYTHON_BEFORE 32 /* bytes before an object, at most */
#define MU_PYTHON_PART_OF "part of a "

/* Words of an object: of a tuple its items; of a text its letters, its kind. */
#define MU_PYTHON_CLASS 1
#define MU_PYTHON_LENGTH 2
#define MU_PYTHON_ITEMS 3
#define MU_PYTHON_KEYS 4   /* of a dict: its table */
#define MU_PYTHON_VALUES 5 /* its values, if these are not in the table */
#define MU_PYTHON_TEXT_STATE 4

/* PyTypeObject, as far as it is read. */
struct mu_python_class {
	uintptr_t refcnt, type, size, name, basicsize, itemsize;
	uintptr_t slots[15];
	uintptr_t flags;
};

/* True if CLASS may be one, and is ready for use. Pure. */
bool mu_python_class_ready(const struct mu_python_class *class);

/*
 * Bytes that are before each object of CLASS: the collector's links, and its
 * dictionary and weak references. Pure.
 */
size_t mu_python_class_before(const struct mu_python_class *class);

/*
 * True if the words of a block at HEAD, of which there are three, may be the
 * collector's of up to 3.7: 32 bytes, two links and a state. Pure.
 */
bool mu_python_is_old_head(const uintptr_t *head);

/*
 * True if an object of CLASS may be BEFORE bytes behind HEAD, the first words
 * of a block. Pure.
 */
bool mu_python_class_fits(
    const struct mu_python_class *class, const uintptr_t *head, size_t before);

/*
 * True if the object at VIEW, in ROOM bytes, of the class NAME refers to
 * nothing but that class: a number, or letters. Pure.
 */
bool mu_python_is_plain(const char *name, const void *view, size_t room);

/*
 * Bytes from an object of CLASS to the values of its attributes; 0: they are
 * not in the object itself, as since 3.13. Pure.
 */
size_t mu_python_class_values(const struct mu_python_class *class);

#define MU_PYTHON_KEY_WORDS 9 /* of an object, for this */

enum mu_python_key_kind {
	MU_PYTHON_KEY_NUMBER,
	MU_PYTHON_KEY_TEXT,
	MU_PYTHON_KEY_TUPLE
};

struct mu_python_key {
	enum mu_python_key_kind kind;
	int64_t number;
	size_t at;     /* bytes from the object to its letters or items */
	size_t length; /* how many */
	size_t letter; /* bytes of a letter: 1, 2, 4 */
};

/*
 * What the object of CLASS at ADDRESS with these WORDS is as a key: a text
 * whose letters are behind it, a number of at most two digits of CPython's, a
 * tuple. Returns false if it is none of these. Pure.
 */
bool mu_python_key_read(const struct mu_python_class *class, uintptr_t address,
    const uintptr_t words[MU_PYTHON_KEY_WORDS], struct mu_python_key *key);

/*
 * Bytes of the text at ADDRESS with its letters; 0: they are not behind it.
 * Pure.
 */
size_t mu_python_text_bytes(
    uintptr_t address, const uintptr_t words[MU_PYTHON_KEY_WORDS]);

/* True if NAME is one or several identifiers with dots between them. Pure. */
bool mu_python_is_name(const char *name);

/*
 * Find the type of the block with HEAD; its name goes to NAME. Returns false if
 * it is none.
 */
bool mu_python_object_find(struct mu_symbols *symbols,
    const struct mu_block_head *head, char name[MU_PYTHON_NAME],
    struct mu_type *type);

/* True if the subject is a program of CPython 3, or has its library. */
bool mu_python_is_there(const struct mu_symbols *symbols);

/*
 * Find the object that has the word at AT: a block to which that leads and that
 * is no object is a part of it, such as the items of a list. The name is "part
 * of a list". Returns false if there is none.
 */
bool mu_python_part_find(struct mu_symbols *symbols, uintptr_t at,
    char name[MU_PYTHON_NAME], struct mu_type *type);

#endif
