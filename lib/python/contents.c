#include "lib/python/contents.h"

#include <string.h>

#include "lib/types/python_keys.h"
#include "lib/types/python_object.h"

#define WORD sizeof(uintptr_t)
#define ELEMENTS_MOST ((size_t)1 << 32)
#define GRAIN ((size_t)16) /* sizes of malloc and of CPython differ by */

/* Words of PyListObject, PySetObject, dequeobject (Modules/_collections...). */
#define LIST_ITEMS 3
#define LIST_ROOM 4
#define SET_USED 3
#define SET_MASK 4
#define SET_TABLE 5
#define SET_ENTRY 2
#define SET_ROOM ((size_t)1 << 33)
#define DEQUE_FIRST 3
#define DEQUE_INDEX 5
#define DEQUE_ITEMS 64 /* of a block, between two links */

#define DICT_USED 2
#define VALUES_MOST 30 /* SHARED_KEYS_MAX_SIZE */
#define MODULE_DICT 2
#define TYPE_DICT 33
#define CLASS_MORE ((size_t)1 << 7) /* words of a class with its pointers */
#define OBJECT_WORDS ((size_t)64)
#define MEMBER_WORDS 5 /* PyMemberDef: its name, its type, its offset ... */
#define MEMBERS 64
#define BASES 16

/* Py_TPFLAGS_... in Include/object.h */
#define FLAG_INLINE_VALUES ((uintptr_t)1 << 2) /* since 3.13 */
#define FLAG_MANAGED_WEAK ((uintptr_t)1 << 3)  /* since 3.12 */
#define FLAG_MANAGED_DICT ((uintptr_t)1 << 4)  /* since 3.11 */

/* The table of a dictionary, or the values of an object's attributes. */
struct table {
	struct mu_python_keys keys;
	uintptr_t address, values;
};

/* Words from ADDRESS, as many as there are. */
static size_t
read_words(const struct mu_snapshot *snap, uintptr_t address, uintptr_t *words,
    size_t count)
{
	const void *view = mu_snapshot_peek(snap, address, count * WORD, words);
	size_t i;

	if (view != NULL) {
		if (view != words)
			memcpy(words, view, count * WORD);
		return count;
	}
	for (i = 0; i < count; i++)
		if (!mu_snapshot_word(snap, address + i * WORD, &words[i]))
			break;
	return i;
}

bool
mu_python_see(struct mu_python_classes *classes, uintptr_t address,
    struct mu_python_seen *seen)
{
	const struct mu_python_known *class;

	if (address == 0 || address % WORD != 0)
		return false;
	*seen = (struct mu_python_seen) { .address = address };
	if (read_words(classes->snap, address, seen->words,
		MU_PYTHON_KEY_WORDS) <= MU_PYTHON_CLASS)
		return false;
	class = mu_python_classes_find(classes, seen->words[MU_PYTHON_CLASS]);
	if (class == NULL || seen->words[0] == 0)
		return false;
	seen->class = *class;
	seen->uses = (uint32_t)seen->words[0];
	return true;
}

size_t
mu_python_count(const struct mu_python_seen *seen)
{
	size_t count = 0;

	switch (seen->class.kind) {
	case MU_PYTHON_DICT:
		count = seen->words[DICT_USED];
		break;
	case MU_PYTHON_SET:
		count = seen->words[SET_USED];
		break;
	case MU_PYTHON_LIST:
	case MU_PYTHON_TUPLE:
	case MU_PYTHON_DEQUE:
		count = seen->words[MU_PYTHON_LENGTH];
		break;
	default:
		break;
	}
	return count < ELEMENTS_MOST ? count : 0;
}

static bool
read_table(
    const struct mu_snapshot *snap, uintptr_t address, struct table *table)
{
	uint64_t head[MU_PYTHON_KEYS_HEAD / sizeof(uint64_t)];

	*table = (struct table) { .address = address };
	if (address % WORD != 0 ||
	    read_words(snap, address, head, sizeof(head) / WORD) !=
		sizeof(head) / WORD ||
	    !mu_python_keys_head(head, &table->keys) ||
	    table->keys.bytes > ELEMENTS_MOST)
		return false;
	return true;
}

/*
 * Since 3.13 values have a head, numbers of a byte: their room, their number,
 * and two that are 0 or 1. Addresses may be as small, but not like that.
 */
static uintptr_t
skip_head(const struct mu_snapshot *snap, uintptr_t values)
{
	uintptr_t head;

	return mu_snapshot_word(snap, values, &head) &&
		(head & ~(uintptr_t)0x0101ffff) == 0 && (head & 0xff) != 0 &&
		(head & 0xff) <= VALUES_MOST &&
		(head >> 8 & 0xff) <= (head & 0xff)
	    ? values + WORD
	    : values;
}

/* Of a dict. */
static bool
find_table(const struct mu_snapshot *snap, const struct mu_python_seen *dict,
    struct table *table)
{
	if (!read_table(snap, dict->words[MU_PYTHON_KEYS], table))
		return false;
	table->values = dict->words[MU_PYTHON_VALUES];
	if (table->values != 0)
		table->values = skip_head(snap, table->values);
	return true;
}

/* The names of the attributes of the objects of the class at ADDRESS. */
static bool
find_shared(
    const struct mu_snapshot *snap, uintptr_t address, struct table *table)
{
	uintptr_t words[CLASS_MORE];
	size_t i = sizeof(struct mu_python_class) / WORD,
	       count = read_words(snap, address, words, CLASS_MORE);

	for (; i < count; i++)
		if (words[i] != 0 && read_table(snap, words[i], table) &&
		    table->keys.shared)
			return true;
	return false;
}

/*
 * The values of the attributes of SEEN, which are beside its dictionary or in
 * its place. *DICT: else the dictionary is there, or 0.
 */
static bool
find_values(const struct mu_snapshot *snap, const struct mu_python_seen *seen,
    struct table *table, uintptr_t *dict)
{
	const struct mu_python_known *class = &seen->class;
	uintptr_t values = 0, before[2] = { 0 }, at;

	*dict = 0;
	if ((class->flags & FLAG_MANAGED_DICT) == 0) {
		at = seen->address + (uintptr_t) class->dict;
		if (class->dict > 0 && class->dict % (intptr_t)WORD == 0)
			mu_snapshot_word(snap, at, dict);
		return false;
	}
	if (read_words(snap, seen->address - 4 * WORD, before, 2) != 2)
		return false;
	if ((before[1] & 1) != 0) /* 3.12 */
		values = before[1] + 1;
	else if (before[1] != 0)
		*dict = before[1];
	else if ((class->flags & FLAG_INLINE_VALUES) != 0)
		values = seen->address + class->size;
	else if ((class->flags & FLAG_MANAGED_WEAK) == 0) /* 3.11 */
		values = before[0];
	if (values == 0 || values % WORD != 0 ||
	    !find_shared(snap, class->address, table))
		return false;
	table->values = skip_head(snap, values);
	return true;
}

/* Items that are in the object itself. */
static size_t
item_bytes(const struct mu_python_seen *seen)
{
	intptr_t count = (intptr_t)seen->words[MU_PYTHON_LENGTH];

	if (seen->class.item == 0 || seen->class.kind == MU_PYTHON_TYPE ||
	    count == INTPTR_MIN)
		return 0;
	count = count < 0 ? -count : count;
	return (size_t)count < ELEMENTS_MOST ? (size_t)count * seen->class.item
					     : 0;
}

/* What is not in the object, but belongs to nothing else. */
static size_t
own_bytes(
    const struct mu_python_classes *classes, const struct mu_python_seen *seen)
{
	size_t count = mu_python_count(seen), mask = seen->words[SET_MASK];
	struct table table;

	switch (seen->class.kind) {
	case MU_PYTHON_DICT:
		if (!find_table(classes->snap, seen, &table))
			return 0;
		return table.values == 0 ? table.keys.bytes
					 : table.keys.count * WORD;
	case MU_PYTHON_LIST:
		return seen->words[LIST_ROOM] < ELEMENTS_MOST
		    ? seen->words[LIST_ROOM] * WORD
		    : 0;
	case MU_PYTHON_SET:
		return mask < SET_ROOM &&
			seen->words[SET_TABLE] - seen->address >
			    seen->class.size
		    ? (mask + 1) * SET_ENTRY * WORD
		    : 0;
	case MU_PYTHON_DEQUE:
		return (count / DEQUE_ITEMS + 1) * (DEQUE_ITEMS + 2) * WORD;
	default:
		return 0;
	}
}

static size_t
rounded(size_t bytes)
{
	return (bytes + GRAIN - 1) / GRAIN * GRAIN;
}

size_t
mu_python_bytes(
    const struct mu_python_classes *classes, const struct mu_python_seen *seen)
{
	size_t bytes = 0;

	if (seen->class.text)
		bytes = mu_python_text_bytes(seen->address, seen->words);
	if (bytes == 0)
		bytes =
		    seen->class.before + seen->class.size + item_bytes(seen);
	return rounded(bytes) + rounded(own_bytes(classes, seen));
}

static void
set_step(struct mu_python_visit *visit, size_t count)
{
	visit->step =
	    count <= visit->most ? 1 : (count + visit->most - 1) / visit->most;
}

static void
each_entry(const struct mu_snapshot *snap, const struct table *table,
    enum mu_python_way way, struct mu_python_visit *visit)
{
	const struct mu_python_keys *keys = &table->keys;
	uintptr_t entry[2], value, at;
	size_t i;

	set_step(visit, keys->count);
	for (i = 0; i < keys->count && !visit->stop; i += visit->step) {
		at = table->address + keys->first + i * keys->stride;
		if (read_words(snap, at + keys->key, entry, 2) != 2)
			continue;
		value = entry[1];
		if (table->values != 0 &&
		    !mu_snapshot_word(snap, table->values + i * WORD, &value))
			break;
		if (value != 0)
			visit->visit(visit->ctx, way, entry[0], value);
	}
}

static void
each_word(const struct mu_snapshot *snap, uintptr_t at, size_t count,
    struct mu_python_visit *visit)
{
	uintptr_t value;
	size_t i;

	set_step(visit, count);
	for (i = 0; i < count && !visit->stop; i += visit->step) {
		if (!mu_snapshot_word(snap, at + i * WORD, &value))
			break;
		visit->visit(visit->ctx, MU_PYTHON_ITEM, 0, value);
	}
}

/* Keys that were removed have -1 for a hash. */
static void
each_of_set(const struct mu_snapshot *snap, const struct mu_python_seen *seen,
    struct mu_python_visit *visit)
{
	uintptr_t entry[SET_ENTRY], at = seen->words[SET_TABLE];
	size_t i, room = seen->words[SET_MASK];

	if (room >= SET_ROOM || mu_python_count(seen) > room)
		return;
	set_step(visit, room + 1);
	for (i = 0; i <= room && !visit->stop; i += visit->step) {
		if (read_words(snap, at + i * SET_ENTRY * WORD, entry,
			SET_ENTRY) != SET_ENTRY)
			break;
		if (entry[0] != 0 && entry[1] != UINTPTR_MAX)
			visit->visit(visit->ctx, MU_PYTHON_ITEM, 0, entry[0]);
	}
}

/* The first ones: blocks are a list. */
static void
each_of_deque(const struct mu_snapshot *snap, const struct mu_python_seen *seen,
    struct mu_python_visit *visit)
{
	uintptr_t block[DEQUE_ITEMS + 2], at = seen->words[DEQUE_FIRST];
	size_t i, index = seen->words[DEQUE_INDEX];
	size_t count = mu_python_count(seen), left = count;

	set_step(visit, count);
	left /= visit->step;
	while (left > 0 && index < DEQUE_ITEMS && !visit->stop &&
	    read_words(snap, at, block, DEQUE_ITEMS + 2) == DEQUE_ITEMS + 2) {
		for (i = index; i < DEQUE_ITEMS && left > 0; i++, left--)
			visit->visit(
			    visit->ctx, MU_PYTHON_ITEM, 0, block[i + 1]);
		index = 0;
		at = block[DEQUE_ITEMS + 1];
	}
}

static void
each_of_dict(const struct mu_snapshot *snap, const struct mu_python_seen *seen,
    enum mu_python_way way, struct mu_python_visit *visit)
{
	struct table table;

	if (find_table(snap, seen, &table))
		each_entry(snap, &table, way, visit);
}

/* Attributes that are in the dictionary at ADDRESS. */
static void
each_in_dict(struct mu_python_classes *classes, uintptr_t address,
    struct mu_python_visit *visit)
{
	struct mu_python_seen dict;

	if (!mu_python_see(classes, address, &dict) ||
	    dict.class.kind != MU_PYTHON_DICT)
		return;
	visit->attributes(visit->ctx, &dict);
	each_of_dict(classes->snap, &dict, MU_PYTHON_ATTRIBUTE, visit);
}

/* The name of the slot at OFFSET, by SEEN's class or one above; 0: none. */
static uintptr_t
find_slot(struct mu_python_classes *classes, const struct mu_python_seen *seen,
    size_t offset)
{
	const struct mu_python_known *class = &seen->class;
	uintptr_t member[MEMBER_WORDS];
	size_t i, j;

	for (i = 0; i < BASES && class != NULL; i++) {
		for (j = 0; class->members != 0 && j < MEMBERS; j++) {
			if (read_words(classes->snap,
				class->members + j * sizeof(member), member,
				MEMBER_WORDS) != MEMBER_WORDS ||
			    member[0] == 0)
				break;
			if (member[2] == offset)
				return member[0];
		}
		class = mu_python_classes_find(classes, class->base);
	}
	return 0;
}

/*
 * The words of an object of a class in C, or with slots. Its dictionary is
 * visited as such.
 */
static void
each_inside(struct mu_python_classes *classes,
    const struct mu_python_seen *seen, struct mu_python_visit *visit)
{
	uintptr_t words[OBJECT_WORDS], slot;
	size_t i, count = seen->class.size / WORD;
	struct mu_python_seen inside;

	if (count > OBJECT_WORDS)
		count = OBJECT_WORDS;
	count = read_words(classes->snap, seen->address, words, count);
	for (i = MU_PYTHON_CLASS + 1; i < count && !visit->stop; i++) {
		if ((intptr_t)(i * WORD) == seen->class.dict ||
		    !mu_python_see(classes, words[i], &inside))
			continue;
		/* What is plain needs no name. */
		slot = inside.class.kind == MU_PYTHON_PLAIN
		    ? 0
		    : find_slot(classes, seen, i * WORD);
		visit->visit(visit->ctx,
		    slot != 0 ? MU_PYTHON_SLOT : MU_PYTHON_INSIDE, slot,
		    words[i]);
	}
}

static void
each_attribute(struct mu_python_classes *classes,
    const struct mu_python_seen *seen, struct mu_python_visit *visit)
{
	struct table table;
	uintptr_t dict;

	visit->step = 1;
	if (find_values(classes->snap, seen, &table, &dict))
		each_entry(classes->snap, &table, MU_PYTHON_ATTRIBUTE, visit);
	else if (dict != 0)
		each_in_dict(classes, dict, visit);
	visit->step = 1;
	if (seen->class.kind == MU_PYTHON_OBJECT)
		each_inside(classes, seen, visit);
}

void
mu_python_each(struct mu_python_classes *classes,
    const struct mu_python_seen *seen, struct mu_python_visit *visit)
{
	const struct mu_snapshot *snap = classes->snap;
	uintptr_t dict;

	switch (seen->class.kind) {
	case MU_PYTHON_PLAIN:
		return;
	case MU_PYTHON_DICT:
		each_of_dict(snap, seen, MU_PYTHON_ELEMENT, visit);
		break;
	case MU_PYTHON_LIST:
		each_word(snap, seen->words[LIST_ITEMS], mu_python_count(seen),
		    visit);
		break;
	case MU_PYTHON_TUPLE:
		each_word(snap, seen->address + MU_PYTHON_ITEMS * WORD,
		    mu_python_count(seen), visit);
		break;
	case MU_PYTHON_SET:
		each_of_set(snap, seen, visit);
		break;
	case MU_PYTHON_DEQUE:
		each_of_deque(snap, seen, visit);
		break;
	case MU_PYTHON_MODULE:
		each_in_dict(classes, seen->words[MODULE_DICT], visit);
		return;
	case MU_PYTHON_TYPE:
		visit->step = 1;
		if (mu_snapshot_word(
			snap, seen->address + TYPE_DICT * WORD, &dict))
			each_in_dict(classes, dict, visit);
		return;
	default:
		break;
	}
	each_attribute(classes, seen, visit);
}
