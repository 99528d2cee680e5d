#include "lib/check/group_types.h"

#include <string.h>

/* The types of blocks of a group, that of its example first. */
struct votes {
	const struct mu_type *types[1 + MU_GROUP_OTHERS];
	size_t count;
};

void
mu_group_types_want(
    struct mu_block_types *wanted, const struct mu_entries *entries)
{
	unsigned char head[MU_LEAK_CONTENTS] = { 0 };
	const struct mu_lost_group *group;
	struct mu_groups_at at;
	size_t i;

	mu_groups_open(&at, entries);
	while ((group = mu_groups_next(&at)) != NULL) {
		memcpy(head, &group->tag, sizeof(group->tag));
		for (i = 0; i < group->num_others; i++)
			mu_block_types_want(
			    wanted, group->others[i], group->size, head, 0);
	}
}

/* True if AT is where a name begins in LIST, "A, B or C". */
static bool
begins_name(const char *list, const char *at)
{
	return at == list || (at - list >= 2 && memcmp(at - 2, ", ", 2) == 0) ||
	    (at - list >= 4 && memcmp(at - 4, " or ", 4) == 0);
}

/* True if LIST has NAME. */
static bool
lists(const char *list, const char *name)
{
	const char *at = list, *end;

	for (; name[0] != '\0' && (at = strstr(at, name)) != NULL; at++) {
		end = at + strlen(name);
		if (begins_name(list, at) &&
		    (*end == '\0' || strncmp(end, ", ", 2) == 0 ||
			strncmp(end, " or ", 4) == 0))
			return true;
	}
	return false;
}

static size_t
count_votes(const struct votes *votes, const struct mu_type *type)
{
	size_t i, count = 0;

	for (i = 0; i < votes->count; i++)
		count += votes->types[i]->source == type->source &&
		    lists(votes->types[i]->name, type->name);
	return count;
}

static bool
is_better(const struct votes *votes, const struct mu_type *type,
    const struct mu_type *than)
{
	if (than == NULL || type->certain != than->certain)
		return than == NULL || type->certain;
	return count_votes(votes, type) > count_votes(votes, than);
}

static bool
all_certain(const struct votes *votes, size_t asked, const struct mu_type *type)
{
	size_t i;

	for (i = 0; i < votes->count; i++)
		if (!votes->types[i]->certain ||
		    strcmp(votes->types[i]->name, type->name) != 0)
			return false;
	return votes->count == asked;
}

static void
add_vote(struct votes *votes, const struct mu_type *type)
{
	if (type->name != NULL)
		votes->types[votes->count++] = type;
}

/* A guess for a block that has no type needs half of those ASKED. */
static bool
is_enough(const struct votes *votes, size_t asked,
    const struct mu_type *example, const struct mu_type *best)
{
	return example->name != NULL || best->certain ||
	    2 * count_votes(votes, best) >= asked;
}

static void
settle(struct mu_block_types *types, const struct mu_groups_at *at)
{
	const struct mu_lost_group *group = &at->group;
	struct mu_type *example = mu_block_types_at(types, at->example.begin);
	const struct mu_type *other, *best = NULL;
	struct mu_type chosen;
	struct votes votes = { .count = 0 };
	size_t i, asked = 1;

	if (example == NULL || group->num_others == 0)
		return;
	add_vote(&votes, example);
	for (i = 0; i < group->num_others; i++) {
		other = mu_block_types_at(types, group->others[i]);
		asked += other != NULL;
		/* What bytes of others look like tells nothing of this one. */
		if (other != NULL && other->source != MU_TYPE_CONTENT)
			add_vote(&votes, other);
	}
	for (i = 0; i < votes.count; i++)
		if (is_better(&votes, votes.types[i], best))
			best = votes.types[i];
	/* What the example certainly is stands beside its address. */
	if (example->certain)
		best = example;
	if (best == NULL || !is_enough(&votes, asked, example, best))
		return;
	chosen = *best;
	chosen.certain = best->certain && all_certain(&votes, asked, best);
	chosen.text = example->text; /* of its own bytes */
	*example = chosen;
}

void
mu_group_types_settle(
    struct mu_block_types *types, const struct mu_entries *entries)
{
	struct mu_groups_at at;

	mu_groups_open(&at, entries);
	while (types->types != NULL && mu_groups_next(&at) != NULL)
		settle(types, &at);
}
