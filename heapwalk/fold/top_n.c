#include "heapwalk/fold/top_n.h"

/* True if A is reported before B. */
static bool
comes_first(const struct mu_chosen *a, const struct mu_chosen *b)
{
	return a->bytes != b->bytes ? a->bytes > b->bytes
				    : a->lowest < b->lowest;
}

static void
sift_down(struct mu_top_n *top, size_t at)
{
	struct mu_chosen *owners = top->owners, owner = owners[at];
	size_t child;

	for (; (child = 2 * at + 1) < top->count; at = child) {
		if (child + 1 < top->count &&
		    comes_first(&owners[child], &owners[child + 1]))
			child++;
		if (!comes_first(&owner, &owners[child]))
			break;
		owners[at] = owners[child];
	}
	owners[at] = owner;
}

static void
make_heap(struct mu_top_n *top)
{
	size_t i;

	for (i = top->count / 2; i-- > 0;)
		sift_down(top, i);
}

bool
mu_top_n_open(struct mu_top_n *top, size_t max, struct mu_arena *arena)
{
	*top = (struct mu_top_n) { .max = max };
	top->owners = mu_arena_alloc(arena, max, sizeof(*top->owners));
	return top->owners != NULL;
}

void
mu_top_n_add(struct mu_top_n *top, const struct mu_chosen *owner)
{
	if (top->count < top->max) {
		top->owners[top->count++] = *owner;
		if (top->count == top->max)
			make_heap(top);
	} else if (comes_first(owner, &top->owners[0])) {
		top->owners[0] = *owner;
		sift_down(top, 0);
	}
}

void
mu_top_n_end(struct mu_top_n *top)
{
	size_t count = top->count;
	struct mu_chosen least;

	/* Fewer than max are left, as some became members of groups. */
	if (count < top->max)
		make_heap(top);
	while (top->count > 1) {
		least = top->owners[0];
		top->count--;
		top->owners[0] = top->owners[top->count];
		sift_down(top, 0);
		top->owners[top->count] = least;
	}
	top->count = count;
}
