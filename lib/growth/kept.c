#include "lib/growth/kept.h"

void
mu_kept_halve(uint64_t *values)
{
	size_t i;

	for (i = 0; 2 * i < MU_KEPT_LOOKS; i++)
		values[i] = values[2 * i];
}

size_t
mu_kept_next(struct mu_kept *kept, bool *halve)
{
	size_t before = kept->taken++;

	*halve = false;
	if (kept->stride == 0)
		kept->stride = 1;
	/* The latest one was kept only for being that. */
	if (kept->count > 0 && (before - 1) % kept->stride != 0)
		return kept->count - 1;
	if (kept->count == MU_KEPT_LOOKS) {
		*halve = true;
		kept->count = (kept->count + 1) / 2;
		kept->stride *= 2;
	}
	return kept->count++;
}
