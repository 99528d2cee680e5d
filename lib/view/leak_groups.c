#include "lib/view/leak_groups.h"

#include <stdlib.h>

#include "lib/view/saturate.h"

/* By stack, then in file order. */
static int
compare_records(const void *a, const void *b)
{
	const struct mu_record *x = ((const struct mu_record_ref *)a)->record;
	const struct mu_record *y = ((const struct mu_record_ref *)b)->record;
	int order = mu_record_compare_inner(x, y);

	return order != 0 ? order : (x > y) - (x < y);
}

static int
compare_groups(const void *a, const void *b)
{
	const struct mu_leak_group *x = a, *y = b;

	if (x->bytes != y->bytes)
		return x->bytes > y->bytes ? -1 : 1;
	if (x->blocks != y->blocks)
		return x->blocks > y->blocks ? -1 : 1;
	return (x->last > y->last) - (x->last < y->last);
}

static void
add_record(struct mu_leak_groups *groups, const struct mu_record *record)
{
	struct mu_leak_group *group = groups->list;

	if (groups->count > 0)
		group += groups->count - 1;
	if (groups->count == 0 ||
	    mu_record_compare_inner(group->last, record) != 0) {
		group = &groups->list[groups->count++];
		*group = (struct mu_leak_group) { 0 };
	}
	group->last = record;
	group->bytes = mu_saturated_add(group->bytes, record->bytes);
	group->blocks = mu_saturated_add(group->blocks, record->count);
	groups->bytes = mu_saturated_add(groups->bytes, record->bytes);
	groups->blocks = mu_saturated_add(groups->blocks, record->count);
}

bool
mu_leak_groups_make(
    struct mu_leak_groups *groups, const struct mu_records *records)
{
	struct mu_record_ref *sorted =
	    calloc(records->count + 1, sizeof(*sorted));
	size_t i;

	*groups = (struct mu_leak_groups) { 0 };
	groups->list = calloc(records->count + 1, sizeof(*groups->list));
	if (sorted == NULL || groups->list == NULL) {
		free(sorted);
		mu_leak_groups_release(groups);
		return false;
	}
	for (i = 0; i < records->count; i++)
		sorted[i].record = &records->list[i];
	qsort(sorted, records->count, sizeof(*sorted), compare_records);
	for (i = 0; i < records->count; i++)
		add_record(groups, sorted[i].record);
	qsort(
	    groups->list, groups->count, sizeof(*groups->list), compare_groups);
	free(sorted);
	return true;
}

void
mu_leak_groups_release(struct mu_leak_groups *groups)
{
	free(groups->list);
	*groups = (struct mu_leak_groups) { 0 };
}
