#include "lib/explain/typed.h"

#include "heapwalk/subject/ranges.h"

const struct mu_typed_variable *
mu_typed_variable_at(const struct mu_typed *typed, uintptr_t address)
{
	size_t i = mu_ranges_upper(
	    typed->variables, typed->count, sizeof(*typed->variables), address);

	if (i == 0 || !mu_range_has(typed->variables[i - 1].range, address))
		return NULL;
	return &typed->variables[i - 1];
}
