#include "lib/types/type.h"

#include <stdio.h>
#include <string.h>

const char *
mu_type_source_name(enum mu_type_source source)
{
	static const char *const words[MU_TYPE_SOURCES] = {
		[MU_TYPE_NONE] = "",
		[MU_TYPE_VTABLE] = "vtable",
		[MU_TYPE_RTTI] = "rtti",
		[MU_TYPE_CONTAINER] = "container",
		[MU_TYPE_TAG] = "tag",
		[MU_TYPE_DWARF] = "dwarf",
		[MU_TYPE_CONTENT] = "content",
	};

	return words[source];
}

const char *
mu_type_counter_name(enum mu_type_counter counter)
{
	static const char *const names[MU_COUNTERS] = {
		[MU_COUNTER_NONE] = NULL,
		[MU_COUNTER_SHARED] = "use_count",
		[MU_COUNTER_SHARED_CXX] = "use_count",
		[MU_COUNTER_GOBJECT] = "ref_count",
		[MU_COUNTER_PYTHON] = "ob_refcnt",
	};

	return names[counter];
}

bool
mu_type_counter_place(enum mu_type_counter counter, size_t *at, unsigned *more)
{
	/* Behind a pointer to a vtable or a class; a PyObject begins with it.
	 */
	*at = counter == MU_COUNTER_PYTHON ? 0 : sizeof(uintptr_t);
	*more = counter == MU_COUNTER_SHARED_CXX ? 1 : 0;
	return counter != MU_COUNTER_NONE;
}

/* Where the dimensions that ELEMENT itself has begin: "[16]" of "float[16]". */
static size_t
own_dimensions(const char *element)
{
	size_t at = strlen(element), end;

	while (at > 0 && element[at - 1] == ']') {
		for (end = at - 1; end > 0 && element[end - 1] >= '0' &&
		     element[end - 1] <= '9';
		     end--)
			continue;
		if (end == 0 || element[end - 1] != '[')
			break;
		at = end - 1;
	}
	return at;
}

void
mu_type_row_name(char *name, size_t size, const char *element, size_t count)
{
	size_t at = own_dimensions(element);
	char digits[24] = "";

	if (count > 0)
		snprintf(digits, sizeof(digits), "%zu", count);
	snprintf(
	    name, size, "%.*s[%s]%s", (int)at, element, digits, element + at);
}
