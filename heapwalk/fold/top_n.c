#include "heapwalk/fold/top_n.h"

/* Is A reported before B? */
static bool
comes_first(const struct mu_chosen *a, const struct mu_chosen *b)
{
	return a->bytes != b->bytes ? a->bytes > b->bytes
				    : a->lowest < b->lowest;
}

static void
sift_down(struct mu_top_n *choice, size_t at)
{
	struct mu_chosen *owners = choice->owners, owner = owners[at];
	size_t child;

	for (; (child = 2 * at + 1) < choice->count; at = child) {
		if (child + 1 < choice->count &&
		    comes_first(&owners[child], &owners[child + 1]))
			child++;
		if (!comes_first(&owner, &owners[child]))
			break;
		owners[at] = owners[child];
	}
	owners[at] = owner;
}

static void
make_heap(struct mu_top_n *choice)
{
	size_t i;

	for (i = choice->count / 2; i-- > 0;)
		sift_down(choice, i);
}

bool
mu_top_n_open(struct mu_top_n *choice, size_t max, struct mu_arena *arena)
{
	*choice = (struct mu_top_n) { .max = max };
	choice->owners = mu_arena_alloc(arena, max, sizeof(*choice->owners));
	return choice->owners != NULL;
}

void
mu_top_n_add(struct mu_top_n *choice, const struct mu_chosen *owner)
{
	if (choice->count < choice->max) {
		choice->owners[choice->count++] = *owner;
		if (choice->count == choice->max)
			make_heap(choice);
	} else if (comes_first(owner, &choice->owners[0])) {
		choice->owners[0] = *owner;
		sift_down(choice, 0);
	}
}

void
mu_top_n_end(struct mu_top_n *choice)
{
	size_t count = choice->count;
	struct mu_chosen least;

	/* There are less than was thought, if some are in groups. */
	if (count < choice->max)
		make_heap(choice);
	while (choice->count > 1) {
		least = choice->owners[0];
		choice->count--;
		choice->owners[0] = choice->owners[choice->count];
		sift_down(choice, 0);
		choice->owners[choice->count] = least;
	}
	choice->count = count;
}
