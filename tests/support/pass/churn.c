#include "tests/support/pass/churn.h"

#define MAX_HELD 48 /* blocks a thread */

int resting; /* churn_on() returns when it is set */

struct node *slots[SLOTS];

size_t
random_below(struct churner *churner, size_t limit)
{
	uint64_t x = churner->random;

	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	churner->random = x;
	return (size_t)(x >> 16) % limit;
}

static struct node *
make_node(struct churner *churner)
{
	size_t kind = random_below(churner, 64), size;
	void *block = NULL;

	size = sizeof(struct node) + random_below(churner, 200);
	if (kind < 8)
		size += random_below(churner, 8192);
	else if (kind == 8)
		size += random_below(churner, 400000);
	if (kind % 16 == 1) {
		if (posix_memalign(&block, (size_t)32 << kind / 16, size) != 0)
			abort();
	} else {
		block = kind % 2 == 0 ? malloc(size) : calloc(1, size);
	}
	if (block == NULL)
		abort();
	((struct node *)block)->size = size;
	return block;
}

static void
push(struct node **list, struct node *node)
{
	node->next = *list;
	*list = node;
}

static struct node *
pop(struct node **list)
{
	struct node *node = *list;

	if (node != NULL)
		*list = node->next;
	return node;
}

static void
resize(struct churner *churner, struct node **list)
{
	struct node *node = pop(list);
	size_t size;

	if (node == NULL)
		return;
	size = sizeof(*node) + random_below(churner, 2 * node->size);
	node = realloc(node, size);
	if (node == NULL)
		abort();
	node->size = size;
	push(list, node);
}

/* Exchange one of our nodes for one that another thread has left. */
static void
trade(struct churner *churner, struct node **list)
{
	struct node **slot = &slots[random_below(churner, SLOTS)], *node;

	node = __atomic_exchange_n(slot, pop(list), __ATOMIC_ACQ_REL);
	free(node);
}

__attribute__((noinline)) void
churn_on(struct churner *churner, struct node **list)
{
	struct timespec nap = { 0, 1000 * 1000 };
	struct node *node;
	unsigned long steps;
	size_t held = 0;

	while (__atomic_load_n(&resting, __ATOMIC_RELAXED) == 0) {
		switch (random_below(churner, 8)) {
		case 0:
			resize(churner, list);
			break;
		case 1:
			trade(churner, list);
			held -= held > 0;
			break;
		default:
			if (held < random_below(churner, MAX_HELD)) {
				push(list, make_node(churner));
				held++;
			} else {
				free(pop(list));
				held -= held > 0;
			}
		}
		steps =
		    __atomic_add_fetch(&churner->progress, 1, __ATOMIC_RELAXED);
		if (churner->steps > 0 && steps % churner->steps == 0)
			nanosleep(&nap, NULL);
	}
	while ((node = pop(list)) != NULL)
		free(node);
}
