#include "lib/check/block_types.h"

#include <stdlib.h>
#include <string.h>

#include "mu/array.h"
#include "mu/bisect.h"
#include "mu/sys.h"

#define BATCH ((size_t)4096) /* questions at a time */

/* Reports have the largest blocks first; 100 bytes for each are kept. */
#define MOST ((size_t)32768)

struct batch {
	struct mu_symbol_question questions[BATCH];
	struct mu_symbol_answer answers[BATCH];
};

void
mu_block_types_want(struct mu_block_types *wanted, uintptr_t begin, size_t size,
    const unsigned char *head, uintptr_t held_at)
{
	struct mu_typed_block *block;
	size_t i;

	if (size == 0 ||
	    !mu_array_room(
		wanted->blocks, wanted->count, wanted->max, 256, MOST))
		return;
	block = &wanted->blocks[wanted->count++];
	*block = (struct mu_typed_block) {
		.begin = begin,
		.size = size,
		.declared = true,
		.held_at = held_at,
	};
	for (i = 0; i < sizeof(block->head) && i < size; i++)
		if (head[i] != 0)
			block->num_head = i + 1;
	memcpy(block->head, head, block->num_head);
}

static int
compare(const void *a, const void *b)
{
	const struct mu_typed_block *x = a, *y = b;

	return x->begin < y->begin ? -1 : x->begin > y->begin;
}

static void
ask_batch(struct mu_block_types *wanted, size_t first, struct batch *batch,
    struct mu_symbol_helper *helper, uint64_t deadline_ns)
{
	size_t i, count = wanted->count - first;

	if (count > BATCH)
		count = BATCH;
	memset(batch->answers, 0, count * sizeof(*batch->answers));
	for (i = 0; i < count; i++)
		batch->questions[i] = (struct mu_symbol_question) {
			.address = wanted->blocks[first + i].begin,
			.block = &wanted->blocks[first + i],
		};
	mu_symbol_helper_ask(
	    helper, batch->questions, batch->answers, count, deadline_ns);
	for (i = 0; i < count; i++)
		wanted->types[first + i] = batch->answers[i].type;
}

/* A block whose type is a class. */
struct instance {
	const char *name;
	size_t length; /* of the name of the class, without "[3]" */
	size_t size;
	struct mu_type *type;
};

static int
compare_classes(const struct instance *x, const struct instance *y)
{
	if (x->length != y->length)
		return x->length < y->length ? -1 : 1;
	return memcmp(x->name, y->name, x->length);
}

static int
compare_instances(const void *a, const void *b)
{
	const struct instance *x = a, *y = b;
	int order = compare_classes(x, y);

	if (order != 0)
		return order;
	return x->size < y->size ? -1 : x->size > y->size;
}

/* Arrays that are certain have as many bytes as their elements. */
static size_t
list_instances(const struct mu_block_types *wanted, struct instance *instances)
{
	struct mu_type *type;
	size_t i, count = 0, length;
	const char *end;

	for (i = 0; i < wanted->count; i++) {
		type = &wanted->types[i];
		if (type->name == NULL ||
		    (type->source != MU_TYPE_VTABLE &&
			type->source != MU_TYPE_RTTI &&
			type->source != MU_TYPE_CONTAINER))
			continue;
		end = strrchr(type->name, '[');
		length = strlen(type->name);
		if (end != NULL && type->name[length - 1] == ']') {
			if (type->certain)
				continue;
			length = (size_t)(end - type->name);
		}
		instances[count++] = (struct instance) {
			.name = type->name,
			.length = length,
			.size = wanted->blocks[i].size,
			.type = type,
		};
	}
	return count;
}

/*
 * Objects of a class have one size, which malloc() may exceed by 16 bytes. If
 * blocks of other sizes begin like them, these were never written, and show
 * what was there before: then no block of that class is certain.
 */
static void
doubt_sizes(struct mu_block_types *wanted)
{
	struct instance *instances = calloc(wanted->count, sizeof(*instances));
	size_t i, first, next, count;

	if (instances == NULL) {
		for (i = 0; i < wanted->count; i++)
			wanted->types[i].certain = false;
		return;
	}
	count = list_instances(wanted, instances);
	if (count > 0)
		qsort(instances, count, sizeof(*instances), compare_instances);
	for (first = 0; first < count; first = next) {
		for (next = first + 1; next < count &&
		     compare_classes(&instances[first], &instances[next]) == 0;
		     next++)
			continue;
		if (instances[next - 1].size - instances[first].size <= 16)
			continue;
		for (i = first; i < next; i++)
			instances[i].type->certain = false;
	}
	free(instances);
}

void
mu_block_types_ask(struct mu_block_types *wanted,
    struct mu_symbol_helper *helper, uint64_t deadline_ns)
{
	struct batch *batch;
	size_t first;

	if (wanted->count == 0)
		return;
	qsort(wanted->blocks, wanted->count, sizeof(*wanted->blocks), compare);
	wanted->types = calloc(wanted->count, sizeof(*wanted->types));
	batch = malloc(sizeof(*batch));
	for (first = 0; wanted->types != NULL && batch != NULL &&
	     first < wanted->count && mu_sys_now_ns() < deadline_ns;
	     first += BATCH)
		ask_batch(wanted, first, batch, helper, deadline_ns);
	free(batch);
	if (wanted->types != NULL)
		doubt_sizes(wanted);
}

struct mu_type *
mu_block_types_at(const struct mu_block_types *wanted, uintptr_t begin)
{
	size_t low = 0;

	if (wanted->types == NULL)
		return NULL;
	mu_bisect(low, wanted->count, i, wanted->blocks[i].begin < begin);
	if (low == wanted->count || wanted->blocks[low].begin != begin)
		return NULL;
	return &wanted->types[low];
}

bool
mu_block_types_find(
    const struct mu_block_types *wanted, uintptr_t begin, struct mu_type *type)
{
	const struct mu_type *found = mu_block_types_at(wanted, begin);

	*type = (struct mu_type) { .source = MU_TYPE_NONE };
	if (found != NULL)
		*type = *found;
	return type->name != NULL;
}

void
mu_block_types_close(struct mu_block_types *wanted)
{
	free(wanted->blocks);
	free(wanted->types);
	*wanted = (struct mu_block_types) { .count = 0 };
}
