#include "heapwalk/recorded/find.h"

#include <string.h>

#include "heapwalk/subject/variables.h"
#include "mu/recorded.h"

static bool
is_recorded(const char *view)
{
	struct mu_recorded about;

	memcpy(&about, view, sizeof(about));
	return mu_recorded_is(&about);
}

uintptr_t
mu_recorded_find(const struct mu_snapshot *snap)
{
	static const struct mu_variable variable = {
		.library = "libmemunreachable-malloc-debug",
		.magic = MU_RECORDED_MAGIC,
		.size = sizeof(struct mu_recorded),
		.is = is_recorded,
	};

	return mu_variable_find(snap, &variable);
}
