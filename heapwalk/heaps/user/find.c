#include "heapwalk/heaps/user/find.h"

#include <string.h>

#include "heapwalk/subject/variables.h"
#include "mu/registered.h"

static bool
is_registered(const char *view)
{
	struct mu_registered registered;

	memcpy(&registered, view, sizeof(registered));
	return mu_registered_is(&registered);
}

size_t
mu_program_heaps_count(const struct mu_snapshot *snap)
{
	static const struct mu_variable variable = {
		.library = "libmemunreachable.so",
		.magic = MU_REGISTERED_MAGIC,
		.size = sizeof(struct mu_registered),
		.is = is_registered,
	};
	struct mu_registered registered;
	uintptr_t at = mu_variable_find(snap, &variable);
	const void *view;

	view = at == 0 ? NULL : mu_snapshot_view(snap, at, sizeof(registered));
	if (view == NULL)
		return 0;
	memcpy(&registered, view, sizeof(registered));
	return registered.num_heaps;
}
