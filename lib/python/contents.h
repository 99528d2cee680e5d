/*
 * What an object of CPython has: its elements, its attributes, its size. Unlike
 * the edges of a graph this needs no blocks: CPython keeps small objects in
 * pieces that it gets from the kernel.
 *
 * Layouts are those of 3.6 to 3.13, with the lock of the interpreter.
 *
 * Runs in: the command.
 */
#ifndef LIB_PYTHON_CONTENTS_H
#define LIB_PYTHON_CONTENTS_H

#include "lib/python/class.h"

struct mu_python_seen {
	uintptr_t address;
	uintptr_t words[MU_PYTHON_KEY_WORDS]; /* 0 where there is no memory */
	struct mu_python_known class;
	uint32_t uses; /* how many owners it has */
};

/* How something is reached. */
enum mu_python_way {
	MU_PYTHON_ITEM,      /* of a list, set ...: KEY is 0 */
	MU_PYTHON_ELEMENT,   /* of a dict: by KEY, an object */
	MU_PYTHON_ATTRIBUTE, /* by KEY, an object */
	MU_PYTHON_SLOT,      /* by KEY, the address of its name */
	MU_PYTHON_INSIDE     /* it has no name: KEY is 0 */
};

struct mu_python_visit {
	void (*visit)(
	    void *ctx, enum mu_python_way way, uintptr_t key, uintptr_t value);
	/* DICT has the attributes of the object, which are visited next. */
	void (*attributes)(void *ctx, const struct mu_python_seen *dict);
	void *ctx;
	size_t most; /* elements of one container that are visited, */
	size_t step; /* each so many: set before the first one */
	bool stop;   /* no more are wanted */
};

/* Read the object at ADDRESS; false: there is none. */
bool mu_python_see(struct mu_python_classes *classes, uintptr_t address,
    struct mu_python_seen *seen);

/*
 * How many elements SEEN has by itself: of a dict, list, set, deque; 0: it is
 * none. What is too large to be true is 0.
 */
size_t mu_python_count(const struct mu_python_seen *seen);

/* Bytes of SEEN, and of what is only its own, such as the table of a dict. */
size_t mu_python_bytes(
    const struct mu_python_classes *classes, const struct mu_python_seen *seen);

/* Visit what SEEN has; for the last three ways STEP is 1. */
void mu_python_each(struct mu_python_classes *classes,
    const struct mu_python_seen *seen, struct mu_python_visit *visit);

#endif
