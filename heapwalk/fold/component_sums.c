/*
 * To know a block's size is to read its header, a cache line. The bytes of all
 * live blocks are known, so that those of one component are what the others
 * leave; it is the largest one, if it has more blocks than were reached.
 */
#include "heapwalk/fold/component_sums.h"

#include "heapwalk/subject/workers.h"

#define MIN_SIZES 16384 /* blocks that a thread is started for */
#define MANY 4 /* one of so many headers is read: most cache lines are */

struct summing {
	struct mu_components *components;
	uint32_t rest; /* the component that gets what is left; or MU_NO_HUB */
	size_t num_sizes; /* that are asked for */
	size_t next;
	bool late;
	size_t bytes, marked_bytes, least, most;
};

/* One worker: what it has summed up of one component. */
struct sum {
	struct mu_components *components;
	uint32_t rest, component;
	size_t bytes, all_bytes, marked_bytes, least, most;
};

static void
end_sum(struct sum *sum)
{
	if (sum->bytes == 0)
		return;
	__atomic_fetch_add(&sum->components->all[sum->component].bytes,
	    sum->bytes, __ATOMIC_RELAXED);
	sum->all_bytes += sum->bytes;
	sum->bytes = 0;
}

/* Is NODE the first block of an owner? */
static inline bool
is_first(const struct mu_component *component, uint32_t node)
{
	return component->lowest == node && component->parent == MU_NO_PARENT;
}

static bool
wants_size(void *ctx, uint32_t node)
{
	struct sum *sum = ctx;
	uint32_t number;

	if (node == MU_NO_NODE || sum->rest == MU_NO_HUB)
		return true;
	number = mu_component_of(sum->components, node);
	return number != sum->rest ||
	    is_first(&sum->components->all[number], node);
}

static void
add_size(void *ctx, uint32_t node, size_t size)
{
	struct sum *sum = ctx;
	const struct mu_component *component;
	uint32_t number;

	if (node == MU_NO_NODE) {
		sum->marked_bytes += size;
		return;
	}
	number = mu_component_of(sum->components, node);
	component = &sum->components->all[number];
	if (is_first(component, node)) {
		sum->least = size < sum->least ? size : sum->least;
		sum->most = size > sum->most ? size : sum->most;
	}
	if (number == sum->rest)
		return;
	if (sum->component != number)
		end_sum(sum);
	sum->component = number;
	sum->bytes += size;
}

static void
raise_to(size_t *most, size_t value)
{
	size_t known = __atomic_load_n(most, __ATOMIC_RELAXED);

	while (value > known &&
	    !__atomic_compare_exchange_n(
		most, &known, value, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		;
}

static void
sum_some(void *ctx, unsigned worker)
{
	struct summing *summing = ctx;
	struct mu_components *components = summing->components;
	const struct mu_lost *lost = components->trees.lost;
	struct mu_deadline deadline = { .ns = components->deadline->ns };
	struct sum sum = { .components = components,
		.rest = summing->rest,
		.least = SIZE_MAX };
	struct mu_sizing sizing = {
		.marked = summing->rest != MU_NO_HUB,
		.most = summing->num_sizes > lost->graph->num_blocks / MANY,
		.wants = wants_size,
		.add = add_size,
		.ctx = &sum,
	};

	(void)worker;
	mu_lost_sizes(lost, &sizing, &summing->next, &deadline);
	end_sum(&sum);
	__atomic_fetch_add(&summing->bytes, sum.all_bytes, __ATOMIC_RELAXED);
	__atomic_fetch_add(
	    &summing->marked_bytes, sum.marked_bytes, __ATOMIC_RELAXED);
	raise_to(&summing->most, sum.most);
	raise_to(&summing->least, ~sum.least);
	if (deadline.passed)
		__atomic_store_n(&summing->late, true, __ATOMIC_RELAXED);
}

static void
count_blocks(struct mu_components *components)
{
	uint32_t node, num_blocks = components->trees.lost->num_blocks;

	for (node = 0; node < num_blocks; node++)
		components->all[mu_component_of(components, node)].count++;
}

static void
choose_rest(struct summing *summing)
{
	const struct mu_components *components = summing->components;
	const struct mu_lost *lost = components->trees.lost;
	size_t num_marked = lost->graph->num_blocks - lost->num_blocks;
	uint32_t i, largest = 0;

	for (i = 1; i < components->num_components; i++)
		if (components->all[i].count > components->all[largest].count)
			largest = i;
	summing->rest = MU_NO_HUB;
	summing->num_sizes = lost->num_blocks;
	if (components->all[largest].count <= num_marked)
		return;
	summing->rest = largest;
	summing->num_sizes += num_marked;
	summing->num_sizes -= components->all[largest].count;
}

void
mu_component_sums(struct mu_components *components)
{
	const struct mu_blocks *blocks = components->trees.lost->graph->blocks;
	struct summing summing = { .components = components };
	size_t left;

	count_blocks(components);
	choose_rest(&summing);
	mu_workers_run(blocks->workers,
	    (unsigned)(1 + summing.num_sizes / MIN_SIZES), sum_some, &summing);
	components->bytes = summing.bytes;
	if (summing.rest != MU_NO_HUB) {
		left = summing.marked_bytes + summing.bytes;
		left = blocks->bytes > left ? blocks->bytes - left : 0;
		components->all[summing.rest].bytes = left;
		components->bytes += left;
	}
	components->most = summing.most;
	components->least = summing.most == 0 ? 0 : ~summing.least;
	components->deadline->passed |= summing.late;
}
