#include "lib/types/type.h"

const char *
mu_type_source_word(enum mu_type_source source)
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
