#include "lib/explain/python_element.h"

#include <stdio.h>
#include <string.h>

#include "lib/python/class.h"
#include "lib/python/key.h"
#include "lib/types/python_keys.h"
#include "lib/types/python_object.h"

#define WORD sizeof(uintptr_t)
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

/* Write the key at ADDRESS, an object, or the name of an attribute. */
static bool
write_key(const struct mu_snapshot *snap, uintptr_t address, bool element,
    char name[MU_PYTHON_ELEMENT])
{
	char key[MU_PYTHON_KEY];

	if (element ? !mu_python_key_text(snap, address, key)
		    : !mu_python_attribute_text(snap, address, key))
		return false;
	snprintf(name, MU_PYTHON_ELEMENT, element ? "[%s]" : ".%s", key);
	return true;
}

/* Write the key of entry INDEX of the table at ADDRESS. */
static bool
write_entry(const struct mu_snapshot *snap, uintptr_t address,
    const struct mu_python_keys *keys, size_t index, bool element,
    char name[MU_PYTHON_ELEMENT])
{
	uintptr_t key;

	return index < keys->count &&
	    mu_snapshot_word(snap,
		address + keys->first + index * keys->stride + keys->key,
		&key) &&
	    write_key(snap, key, element, name);
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
	    !mu_python_class_read(explaining->snap, address, &class))
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
