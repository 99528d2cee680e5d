/* Build a heap dump in one buffer. */
#ifndef TESTS_SUPPORT_COMMAND_WHOLE_DUMP_H
#define TESTS_SUPPORT_COMMAND_WHOLE_DUMP_H

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

#endif
