/* Tags in the low bits of pointers, and a union of pointer and number. */
#include <stdlib.h>

#include "tests/corpus/support/corpus.h"

union value {
	void *pointer;
	uintptr_t word;
	double number;
};

struct object {
	union value a, b;
};

static NOINLINE struct object *
make_object(void)
{
	struct object *object = malloc(sizeof(*object));

	object->a.pointer = malloc(40);
	object->a.word |= 5;
	object->b.pointer = malloc(48);
	object->b.word |= 1;
	return corpus_use(object);
}

static NOINLINE void
drop_by_number(struct object *object)
{
	corpus_lose("overwritten");
	free((void *)(object->b.word & ~(uintptr_t)7));
	object->b.pointer = malloc(48);
	corpus_lose_end();
	corpus_use(object);
	object->b.number = 3.14;
}

void
corpus_scenario(void)
{
	struct object *object = make_object();

	corpus_keep((void *)((uintptr_t)object | 3));
	drop_by_number(object);
	corpus_lose("tagged");
	make_object();
}
