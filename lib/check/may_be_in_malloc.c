#include "lib/check/may_be_in_malloc.h"

#include "heapwalk/heaps/table/table.h"

bool
mu_may_be_in_malloc(const struct mu_snapshot *snap)
{
	size_t i;

	for (i = 0; i < snap->num_threads; i++)
		if (snap->threads[i].call < 0 ||
		    mu_heaps_call(snap->threads[i].call))
			return true;
	return false;
}
