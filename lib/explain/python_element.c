#include "lib/explain/python_element.h"

#include <stdio.h>
#include <string.h>

#include "lib/explain/key_text.h"
#include "lib/types/python_keys.h"
#include "lib/types/python_object.h"

#define WORD sizeof(uintptr_t)
#define TEXT_SHOWN ((size_t)40)
#define CLASS_MORE ((size_t)1 << 10) /* bytes of a class with its pointers */

/* The table of a dictionary at ADDRESS, which is the begin of a block. */
static bool
read_keys(const struct mu_explaining *explaining, uintptr_t address,
    struct mu_python_keys *keys)
{
	struct mu_block block;

	return mu_blocks_find(explaining->graph->blocks, address, &block) &&
	    block.range.begin == address &&
	    mu_python_keys_read(block.view, mu_range_size(block.range), keys);
}

static bool
read_class(const struct mu_snapshot *snap, uintptr_t address,
    struct mu_python_class *class)
{
	const void *view =
	    mu_snapshot_peek(snap, address, sizeof(*class), class);

	if (view != NULL && view != class)
		memcpy(class, view, sizeof(*class));
	return view != NULL && mu_python_class_ready(class);
}

/* Write the key at ADDRESS, an object; QUOTED: with the signs of a text. */
static bool
write_key(const struct mu_snapshot *snap, uintptr_t address, bool quoted,
    char name[MU_PYTHON_ELEMENT])
{
	struct mu_python_class class;
	struct mu_python_key key;
	char text[TEXT_SHOWN];
	const void *view;
	uintptr_t type;
	size_t shown;

	if (mu_snapshot_lacks_numbers(snap) ||
	    !mu_snapshot_word(snap, address + WORD, &type) ||
	    !read_class(snap, type, &class))
		return false;
	view = mu_snapshot_view(snap, address, MU_PYTHON_KEY_HEAD);
	if (view == NULL || !mu_python_key_read(&class, view, &key))
		return false;
	if (key.is_number) {
		if (quoted)
			snprintf(name, MU_PYTHON_ELEMENT, "[%lld]",
			    (long long)key.number);
		return quoted;
	}
	shown = key.length < sizeof(text) ? key.length : sizeof(text);
	view = mu_snapshot_view(snap, address + key.letters, shown);
	if (view == NULL || memchr(view, '\0', shown) != NULL)
		return false;
	snprintf(name, MU_PYTHON_ELEMENT, quoted ? "[\"%.*s%s]" : ".%.*s%s",
	    (int)shown, (const char *)view,
	    shown < key.length ? "..."
		: quoted       ? "\""
			       : "");
	return true;
}

/* Write the key of entry INDEX of the table at ADDRESS. */
static bool
write_entry(const struct mu_snapshot *snap, uintptr_t address,
    const struct mu_python_keys *keys, size_t index, bool quoted,
    char name[MU_PYTHON_ELEMENT])
{
	uintptr_t key;

	return index < keys->count &&
	    mu_snapshot_word(snap,
		address + keys->first + index * keys->stride + keys->key,
		&key) &&
	    write_key(snap, key, quoted, name);
}

/* The names of the attributes of the objects of a class. */
static bool
find_shared(const struct mu_explaining *explaining, uintptr_t class,
    uintptr_t *address, struct mu_python_keys *keys)
{
	size_t at;

	for (at = sizeof(struct mu_python_class); at < CLASS_MORE; at += WORD)
		if (mu_snapshot_word(explaining->snap, class + at, address) &&
		    read_keys(explaining, *address, keys) && keys->shared)
			return true;
	return false;
}

/*
 * The values of an object, to which a word before its links leads, or those of
 * a dictionary that has them beside its table.
 */
static bool
name_value(const struct mu_explaining *explaining, const struct mu_step *before,
    const struct mu_step *step, char name[MU_PYTHON_ELEMENT])
{
	const struct mu_snapshot *snap = explaining->snap;
	const uintptr_t object = before->address + before->object;
	struct mu_python_keys keys;
	uintptr_t class, table;
	const bool dict = before->type != NULL &&
	    strcmp(before->type, "dict") == 0 &&
	    before->offset == before->object + MU_PYTHON_VALUES * WORD;
	bool found = false;

	if (!before->points || step->offset < before->into)
		return false;
	if (dict)
		found = mu_snapshot_word(
			    snap, object + MU_PYTHON_KEYS * WORD, &table) &&
		    read_keys(explaining, table, &keys);
	else if (before->offset < before->object)
		found = mu_snapshot_word(snap, object + WORD, &class) &&
		    find_shared(explaining, class, &table, &keys);
	return found &&
	    write_entry(snap, table, &keys,
		(step->offset - before->into) / WORD, dict, name);
}

bool
mu_python_attribute_name(const struct mu_explaining *explaining,
    const struct mu_step *step, char name[MU_PYTHON_ELEMENT])
{
	struct mu_python_class class;
	struct mu_python_keys keys;
	uintptr_t address, table;
	size_t values;

	if (step->counter != MU_COUNTER_PYTHON || !step->certain ||
	    step->kind != MU_STEP_BLOCK || !step->points ||
	    !mu_snapshot_word(explaining->snap,
		step->address + step->object + WORD, &address) ||
	    !read_class(explaining->snap, address, &class))
		return false;
	values = mu_python_class_values(&class);
	return values > 0 && step->offset >= step->object + values &&
	    find_shared(explaining, address, &table, &keys) &&
	    write_entry(explaining->snap, table, &keys,
		(step->offset - step->object - values) / WORD, false, name);
}

bool
mu_python_element_name(const struct mu_explaining *explaining,
    const struct mu_step *before, const struct mu_step *step,
    char name[MU_PYTHON_ELEMENT])
{
	struct mu_python_keys keys;
	size_t into;

	if (before->counter != MU_COUNTER_PYTHON || !before->certain ||
	    step->kind != MU_STEP_BLOCK || !step->points ||
	    step->counter == MU_COUNTER_PYTHON)
		return false;
	if (!read_keys(explaining, step->address, &keys))
		return name_value(explaining, before, step, name);
	if (keys.shared || step->offset < keys.first)
		return false;
	into = step->offset - keys.first;
	return into % keys.stride == keys.key + WORD &&
	    write_entry(explaining->snap, step->address, &keys,
		into / keys.stride, true, name);
}
