/* Build a heap dump in one buffer, and list its records. */
#ifndef TESTS_SUPPORT_COMMAND_WHOLE_DUMP_H
#define TESTS_SUPPORT_COMMAND_WHOLE_DUMP_H

#include <stdlib.h>

#include "lib/view/heap_dump_file.h"

/* TEXT is modified, and may be freed afterwards. */
static inline enum mu_status
parse_dump(
    struct mu_heap_dump *dump, char *text, size_t length, struct mu_why *why)
{
	mu_heap_dump_begin(dump);
	mu_heap_dump_take(dump, text, length, true);
	return mu_heap_dump_end(dump, why);
}

static inline int
compare_dump_records(const void *a, const void *b)
{
	const struct mu_record *x = a, *y = b;

	return (x->number > y->number) - (x->number < y->number);
}

/*
 * The records of DUMP in the order of its file, with addresses for frames. Free
 * the list; NULL without memory.
 */
static inline struct mu_record *
dump_records(struct mu_heap_dump *dump, size_t *count)
{
	struct mu_record *list = calloc(dump->num_records + 1, sizeof(*list));
	size_t i, j;

	*count = 0;
	if (list == NULL)
		return NULL;
	mu_sorter_begin(&dump->records);
	while (mu_heap_dump_next(dump, &list[*count]))
		++*count;
	qsort(list, *count, sizeof(*list), compare_dump_records);
	for (i = 0; i < *count; i++) {
		for (j = 0; j < list[i].num_frames; j++)
			list[i].frames[j] =
			    dump->addresses.list[list[i].frames[j]];
	}
	return list;
}

#endif
