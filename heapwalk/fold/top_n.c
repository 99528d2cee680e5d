#include "heapwalk/fold/top_n.h"

#define LOW_BITS 32 /* of a key: the place */

static uint64_t
key_of(size_t bytes, uint32_t place)
{
	uint32_t most = bytes < UINT32_MAX ? (uint32_t)bytes : UINT32_MAX;

	return (uint64_t)~most << LOW_BITS | place;
}

/* True if the bytes of KEY do not fit into it. */
static inline bool
is_huge(uint64_t key)
{
	return key >> LOW_BITS == 0;
}

static size_t
bytes_of(const struct mu_top_n *top, uint64_t key)
{
	return is_huge(key) ? top->bytes(top->ctx, (uint32_t)key)
			    : (uint32_t) ~(key >> LOW_BITS);
}

/* True if A is reported before B. */
static inline bool
comes_first(const struct mu_top_n *top, uint64_t a, uint64_t b)
{
	size_t bytes_a, bytes_b;

	if (is_huge(a) && is_huge(b)) {
		bytes_a = bytes_of(top, a);
		bytes_b = bytes_of(top, b);
		if (bytes_a != bytes_b)
			return bytes_a > bytes_b;
	}
	return a < b;
}

static void
sift_down(struct mu_top_n *top, size_t at)
{
	uint64_t *keys = top->keys, key = keys[at];
	size_t child;

	for (; (child = 2 * at + 1) < top->count; at = child) {
		if (child + 1 < top->count &&
		    comes_first(top, keys[child], keys[child + 1]))
			child++;
		if (!comes_first(top, key, keys[child]))
			break;
		keys[at] = keys[child];
	}
	keys[at] = key;
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
	top->keys = mu_arena_alloc(arena, max, sizeof(*top->keys));
	return top->keys != NULL;
}

void
mu_top_n_add(struct mu_top_n *top, size_t bytes, uint32_t place)
{
	uint64_t key = key_of(bytes, place);

	if (top->count < top->max) {
		top->keys[top->count++] = key;
		if (top->count == top->max)
			make_heap(top);
	} else if (comes_first(top, key, top->keys[0])) {
		top->keys[0] = key;
		sift_down(top, 0);
	}
}

size_t
mu_top_n_least(const struct mu_top_n *top)
{
	return top->count < top->max ? 0 : bytes_of(top, top->keys[0]);
}

void
mu_top_n_end(struct mu_top_n *top)
{
	size_t count = top->count;
	uint64_t least;

	/* Fewer than max are left, as some became members of groups. */
	if (count < top->max)
		make_heap(top);
	while (top->count > 1) {
		least = top->keys[0];
		top->count--;
		top->keys[0] = top->keys[top->count];
		sift_down(top, 0);
		top->keys[top->count] = least;
	}
	top->count = count;
}
