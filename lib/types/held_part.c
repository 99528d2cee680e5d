#include "lib/types/held_part.h"

#include <string.h>

#include "lib/types/containers.h"

#define WORD sizeof(uintptr_t)
#define NODES_MAX 4096          /* of one container */
#define STEPS ((size_t)1 << 17) /* in vain */
#define BEFORE 13 /* words of a container before the last one that leads on */

struct finding {
	const struct mu_symbols *symbols;
	const struct mu_block_head *head;
	enum mu_part_kind part;
	size_t count;
	bool proven;
};

static bool
read_memory(void *ctx, uintptr_t address, void *buffer, size_t size)
{
	const struct finding *finding = ctx;

	return mu_symbols_read(finding->symbols, address, buffer, size);
}

/* Only one block is known here. */
static size_t
size_of(void *ctx, uintptr_t begin)
{
	const struct finding *finding = ctx;

	return begin == finding->head->begin ? finding->head->size
					     : MU_CONTAINER_ANY_SIZE;
}

static bool
is_code(void *ctx, uintptr_t address)
{
	const struct finding *finding = ctx;
	const struct mu_mapping *mapping;

	return mu_symbols_in_file(finding->symbols, address, &mapping) &&
	    mapping != NULL && mapping->executable;
}

static void
take_part(void *ctx, uintptr_t begin, enum mu_part_kind part, size_t count)
{
	struct finding *finding = ctx;

	if (begin != finding->head->begin || finding->proven)
		return;
	finding->part = part;
	finding->count = count;
}

static void
end_container(void *ctx, bool proven)
{
	struct finding *finding = ctx;

	if (finding->proven)
		return;
	finding->proven = proven && finding->part != MU_PART_NONE;
	if (!finding->proven)
		finding->part = MU_PART_NONE;
}

static unsigned
find_libraries(struct mu_held_parts *parts, const struct mu_symbols *symbols)
{
	const struct mu_loaded *list;
	size_t i, count = 0;

	if (!parts->asked) {
		list = mu_symbols_loaded(symbols, &count);
		for (i = 0; i < count; i++)
			parts->libraries |=
			    mu_containers_library(list[i].first->name);
		parts->steps = STEPS;
	}
	parts->asked = true;
	return parts->libraries;
}

bool
mu_held_part_find(struct mu_held_parts *parts, const struct mu_symbols *symbols,
    const struct mu_block_head *head, uintptr_t at, unsigned libraries,
    struct mu_type *type)
{
	struct finding finding = { .symbols = symbols, .head = head };
	struct mu_containers finder = {
		.ctx = &finding,
		.read = read_memory,
		.size = size_of,
		.code = is_code,
		.found = take_part,
		.end = end_container,
		.most = NODES_MAX,
	};
	uintptr_t words[MU_CONTAINER_WORDS];
	size_t i, count;

	finder.libraries = libraries & find_libraries(parts, symbols);
	if (at == 0 || at % WORD != 0 || finder.libraries == 0)
		return false;
	finder.steps = parts->steps;
	for (i = 0; i < BEFORE && !finding.proven; i++) {
		count = mu_subject_bytes(
			    symbols, at - i * WORD, words, sizeof(words)) /
		    WORD;
		if (count > i)
			mu_containers_find(
			    &finder, at - i * WORD, words, count);
	}
	parts->steps = finder.steps;
	if (!finding.proven)
		return false;
	parts->elements = finding.part == MU_PART_VECTOR;
	parts->slices = finding.part == MU_PART_GSLICES;
	parts->node = finding.part == MU_PART_GLIST;
	if (finding.part == MU_PART_STRINGS)
		mu_type_row_name(parts->name, sizeof(parts->name),
		    mu_part_name(finding.part), finding.count);
	*type = (struct mu_type) {
		.name = finding.part == MU_PART_STRINGS
		    ? parts->name
		    : mu_part_name(finding.part),
		.source = MU_TYPE_CONTAINER,
	};
	return true;
}
