#include "heapwalk/fold/sources.h"

#include "heapwalk/fold/ahead.h"
#include "heapwalk/fold/targets.h"
#include "mu/bits.h"

void
mu_sources_open(struct mu_sources *sources, struct mu_components *components)
{
	sources->components = components;
	sources->hub = sources->run = 0;
	sources->marks = false;
	sources->count = sources->left = 0;
	sources->run_sum = (struct mu_retained) { 0, 0, false, 0 };
}

/* SOURCES reach the component NUMBER. */
static inline void
reach(struct mu_sources *sources, uint32_t number, uint64_t mask)
{
	struct mu_components *components = sources->components;

	if (components->reach[number] == 0) {
		mu_ahead_component(components, number);
		__builtin_prefetch(&components->paths[number]);
		mu_bit_set(components->seen, number);
		sources->left++;
	}
	components->reach[number] |= mask;
}

void
mu_sources_add(struct mu_sources *sources, struct mu_retained *sum)
{
	uint64_t mask = 1ull << sources->count;

	sources->sums[sources->count++] = sum;
	*sum = (struct mu_retained) { .component = sum->component };
	reach(sources, sum->component, mask);
}

static void
end_run(struct mu_sources *sources)
{
	struct mu_retained *sum;
	uint64_t mask;

	for (mask = sources->run; mask != 0; mask &= mask - 1) {
		sum = sources->sums[__builtin_ctzll(mask)];
		sum->bytes += sources->run_sum.bytes;
		sum->count += sources->run_sum.count;
	}
	sources->run_sum.bytes = sources->run_sum.count = 0;
}

/* The sources in MASK reach so much more. */
static inline void
add(struct mu_sources *sources, uint64_t mask, size_t count, size_t bytes)
{
	if (mask != sources->run) {
		end_run(sources);
		sources->run = mask;
	}
	sources->run_sum.bytes += bytes;
	sources->run_sum.count += (uint32_t)count;
}

/* They reach what NUMBER leads to, unless it is private. */
static void
reach_targets(struct mu_sources *sources, uint32_t number, uint64_t mask)
{
	struct mu_targets targets;
	uint32_t to;

	mu_targets_open(&targets, sources->components, number);
	while (mu_targets_next(&targets, &to))
		reach(sources, to, mask);
}

static void
visit(struct mu_sources *sources, uint32_t number)
{
	struct mu_components *components = sources->components;
	struct mu_component *one = &components->all[number];
	uint32_t next = mu_components_next(components, number);
	uint64_t mask = components->reach[number];
	size_t count = 0, bytes = 0;

	components->reach[number] = 0;
	mu_deadline_passed(components->deadline, 8);
	if (one->below_hub)
		mask &= ~sources->hub;
	one->below_hub |= sources->marks;
	if (mask == 0)
		return;
	if (number == components->hub) {
		sources->hub = mask;
		add(sources, mask, components->hub_sum.count,
		    components->hub_sum.bytes);
		return;
	}
	if (next != MU_NO_COMPONENT)
		mu_components_reach(components, next, &count, &bytes);
	add(sources, mask, one->count - count, one->bytes - bytes);
	if (next != MU_NO_COMPONENT)
		reach(sources, next, mask);
	else if (!one->complete)
		reach_targets(sources, number, mask);
}

void
mu_sources_sum(struct mu_sources *sources)
{
	struct mu_components *components = sources->components;
	const struct mu_deadline *deadline = components->deadline;
	uint32_t word = components->num_components / 64 + 1, bit, i;
	uint64_t *seen = components->seen;

	while (sources->left > 0 && !deadline->passed) {
		for (word--; seen[word] == 0;)
			word--;
		while (seen[word] != 0 && !deadline->passed) {
			bit = 63 - (uint32_t)__builtin_clzll(seen[word]);
			mu_bit_clear(&seen[word], bit);
			sources->left--;
			visit(sources, word * 64 + bit);
		}
	}
	end_run(sources);
	for (i = 0; i < sources->count; i++)
		sources->sums[i]->known = !deadline->passed;
}
