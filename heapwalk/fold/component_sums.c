/*
 * Several workers add up sizes. Consecutive blocks often belong to one
 * component, and most blocks may belong to the largest; so only sums of runs
 * are added to memory that other workers write to.
 */
#include "heapwalk/fold/component_sums.h"

#include "heapwalk/fold/ahead.h"
#include "heapwalk/subject/workers.h"

#define MIN_SIZES 16384 /* blocks that justify a thread */

struct summing {
	struct mu_components *components;
	uint32_t largest; /* the component with most blocks */
	size_t next;
	bool late;
	size_t bytes, least, most;
};

/* A worker's sum for one component. */
struct sum {
	struct mu_components *components;
	uint32_t largest, component;
	size_t bytes, largest_bytes, all_bytes, least, most;
};

static void
add_to(struct sum *sum, uint32_t component, size_t bytes)
{
	if (bytes == 0)
		return;
	__atomic_fetch_add(
	    &sum->components->all[component].bytes, bytes, __ATOMIC_RELAXED);
	sum->all_bytes += bytes;
}

/* True if NODE is the first block of an owner. */
static inline bool
is_first(const struct mu_component *component, uint32_t node)
{
	return component->lowest == node && component->parent == MU_NO_PARENT;
}

static void
add_size(void *ctx, uint32_t node, size_t size)
{
	struct sum *sum = ctx;
	uint32_t number = mu_component_of(sum->components, node);

	mu_ahead_block(sum->components, node);
	if (is_first(&sum->components->all[number], node)) {
		sum->least = size < sum->least ? size : sum->least;
		sum->most = size > sum->most ? size : sum->most;
	}
	if (mu_components_counted(sum->components, number)) {
		sum->components->all[number].bytes = size;
		sum->all_bytes += size;
		return;
	}
	if (number == sum->largest) {
		sum->largest_bytes += size;
		return;
	}
	if (sum->component != number) {
		add_to(sum, sum->component, sum->bytes);
		sum->component = number;
		sum->bytes = 0;
	}
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
	struct mu_deadline deadline = { .ns = components->deadline->ns };
	struct sum sum = { .components = components,
		.largest = summing->largest,
		.least = SIZE_MAX };

	(void)worker;
	mu_lost_sizes(
	    components->trees.lost, add_size, &sum, &summing->next, &deadline);
	add_to(&sum, sum.component, sum.bytes);
	add_to(&sum, sum.largest, sum.largest_bytes);
	__atomic_fetch_add(&summing->bytes, sum.all_bytes, __ATOMIC_RELAXED);
	raise_to(&summing->most, sum.most);
	raise_to(&summing->least, ~sum.least);
	if (deadline.passed)
		__atomic_store_n(&summing->late, true, __ATOMIC_RELAXED);
}

static void
count_blocks(struct mu_components *components)
{
	uint32_t node, num_blocks = components->trees.lost->num_blocks, number;

	for (node = 0; node < num_blocks; node++) {
		number = mu_component_of(components, node);
		if (mu_components_counted(components, number))
			continue;
		mu_ahead_block(components, node);
		components->all[number].count++;
	}
}

static uint32_t
find_largest(const struct mu_components *components)
{
	uint32_t i, largest = 0;

	for (i = 1; i < components->num_components &&
	     !mu_components_counted(components, i);
	     i++)
		if (components->all[i].count > components->all[largest].count)
			largest = i;
	return largest;
}

void
mu_component_sums(struct mu_components *components)
{
	const struct mu_lost *lost = components->trees.lost;
	struct summing summing = { .components = components };

	count_blocks(components);
	summing.largest = find_largest(components);
	mu_workers_run(lost->graph->blocks->workers,
	    1 + lost->num_blocks / MIN_SIZES, sum_some, &summing);
	components->bytes = summing.bytes;
	components->most = summing.most;
	components->least = summing.most == 0 ? 0 : ~summing.least;
	components->deadline->passed |= summing.late;
}
