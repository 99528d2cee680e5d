#include "lib/types/cxx_object.h"

#include <stdio.h>
#include <string.h>

#include "lib/types/container_part.h"

#define WORD sizeof(uintptr_t)
#define LOOKED_AT 8 /* words from the begin, for the first vptr */
#define LIBCXX "std::__1::"
#define UNUSED_MAX 32 /* bytes at the end that malloc() adds at most */

/* Objects of one class at equal distances. */
struct row {
	size_t first;  /* index of the word with the first vptr */
	size_t stride; /* words; 0: there is one object */
	size_t count;
};

/*
 * The row of objects that begins at FIRST. A vptr of the class at another
 * distance ends it: what follows is something else, or was never written.
 */
static struct row
row_of(const struct mu_block_head *head, size_t first)
{
	struct row row = { .first = first, .count = 1 };
	size_t i;

	for (i = first + 1; i < head->count; i++) {
		if (head->words[i] != head->words[first])
			continue;
		if (row.stride == 0)
			row.stride = i - first;
		if (i != first + row.count * row.stride)
			break;
		row.count++;
	}
	return row;
}

/*
 * new[] writes the number of elements before the first one, if their class has
 * a destructor (Itanium C++ ABI, 2.7). True if so many are there, and fill the
 * block.
 */
static bool
is_counted(const struct mu_block_head *head, const struct row *row)
{
	size_t count = row->first == 0 ? 0 : head->words[row->first - 1];
	size_t end, seen;

	if (row->first == 0 || row->first > 2 || count < 2 ||
	    row->stride == 0 || count > head->size / (row->stride * WORD))
		return false;
	end = (row->first + count * row->stride) * WORD;
	seen = (head->count - row->first + row->stride - 1) / row->stride;
	return end <= head->size && head->size - end <= UNUSED_MAX &&
	    row->count == (seen < count ? seen : count);
}

static void
write_name(char name[MU_TYPE_NAME_SIZE], const char *class, size_t count)
{
	char end[32] = "";
	int length;

	if (count > 1)
		snprintf(end, sizeof(end), "[%zu]", count);
	length = snprintf(name, MU_TYPE_NAME_SIZE, "%.*s%s",
	    (int)(MU_TYPE_NAME_SIZE - sizeof(end) - 4), class, end);
	if ((size_t)length < strlen(class))
		memcpy(name + length - strlen(end), "...", sizeof("..."));
}

static void
describe(const struct mu_block_head *head, const struct mu_vtable *vtable,
    size_t at, char name[MU_TYPE_NAME_SIZE], struct mu_type *type)
{
	struct row row = row_of(head, at);
	bool counted = is_counted(head, &row);

	*type = (struct mu_type) {
		.name = name,
		.source = vtable->source,
		.offset = (size_t)((ptrdiff_t)(at * WORD) + vtable->top),
	};
	write_name(
	    name, vtable->name, counted ? head->words[at - 1] : row.count);
	/*
	 * An object that is not at the begin is a part of something else. Each
	 * class with a vtable has a vptr at its begin (Itanium C++ ABI, 2.4):
	 * another vptr alone is what is left of an object.
	 */
	type->certain =
	    vtable->certain && (counted || (row.count == 1 && at == 0));
	if (counted) {
		type->offset = 0;
		type->stride = row.stride * WORD;
	}
	if (type->offset == 0 && row.count == 1 &&
	    mu_container_part(vtable->name, name, MU_TYPE_NAME_SIZE)) {
		/* Of these only control blocks have vtables. */
		type->source = MU_TYPE_CONTAINER;
		type->counter = strncmp(vtable->name, LIBCXX, strlen(LIBCXX))
		    ? MU_COUNTER_SHARED
		    : MU_COUNTER_SHARED_CXX;
	}
}

bool
mu_cxx_object_find(struct mu_vtable_cache *cache,
    const struct mu_block_head *head, char name[MU_TYPE_NAME_SIZE],
    struct mu_type *type)
{
	const struct mu_vtable *vtable;
	size_t i;

	for (i = 0; i < head->count && i < LOOKED_AT; i++) {
		vtable = mu_vtable_known(cache, head->words[i]);
		if (vtable == NULL || (ptrdiff_t)(i * WORD) + vtable->top < 0)
			continue;
		describe(head, vtable, i, name, type);
		return true;
	}
	return false;
}
