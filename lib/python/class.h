/*
 * Classes of CPython in the subject's memory, each of which is read once.
 *
 * Runs in: the command.
 */
#ifndef LIB_PYTHON_CLASS_H
#define LIB_PYTHON_CLASS_H

#include "heapwalk/explain/keyed.h"
#include "heapwalk/subject/snapshot.h"
#include "lib/types/python_object.h"

/* Read the class at ADDRESS; false: there is none that is ready for use. */
bool mu_python_class_read(const struct mu_snapshot *snap, uintptr_t address,
    struct mu_python_class *class);

/* What its objects are, or those of a class that it is derived from. */
enum mu_python_kind {
	MU_PYTHON_NO_CLASS,
	MU_PYTHON_PLAIN, /* has no references that matter */
	MU_PYTHON_DICT,
	MU_PYTHON_LIST,
	MU_PYTHON_TUPLE,
	MU_PYTHON_SET,
	MU_PYTHON_DEQUE,
	MU_PYTHON_MODULE,
	MU_PYTHON_TYPE, /* made by a program */
	MU_PYTHON_OBJECT
};

struct mu_python_known {
	uint64_t address; /* the key */
	enum mu_python_kind kind;
	bool text;     /* str, or derived from it */
	bool itself;   /* of dict: it is dict itself */
	size_t size;   /* bytes of an object without its items */
	size_t item;   /* bytes of an item */
	size_t before; /* mu_python_class_before() */
	uintptr_t flags;
	intptr_t dict;     /* where its attributes are, or 0 */
	uintptr_t members; /* its slots, or 0 */
	uintptr_t base;
};

struct mu_python_classes {
	const struct mu_snapshot *snap;
	struct mu_keyed known; /* struct mu_python_known */
};

/* None is known at first; ARENA is for those that are. */
void mu_python_classes_open(struct mu_python_classes *classes,
    const struct mu_snapshot *snap, struct mu_arena *arena);

/*
 * The class at ADDRESS; valid until the next call. NULL: there is none, or no
 * memory.
 */
const struct mu_python_known *mu_python_classes_find(
    struct mu_python_classes *classes, uintptr_t address);

#endif
