#include "lib/check/release_guess.h"

#include "heapwalk/heaps/table/table.h"

/* What a layout finds. */
struct fit {
	unsigned minor;
	size_t count, bytes;
};

static bool
try_layout(const struct mu_snapshot *snap, unsigned minor, size_t limit,
    struct fit *fit, struct mu_why *why)
{
	struct mu_snapshot trial = *snap;
	struct mu_arena tables;
	enum mu_status status;
	struct mu_heap heap;

	trial.glibc_major = 2;
	trial.glibc_minor = minor;
	trial.glibc_inferred = true;
	mu_arena_open(&tables, limit);
	status = mu_heaps_list(&heap, &trial, &tables, why);
	*fit = (struct fit) { minor, heap.blocks.count, heap.blocks.bytes };
	mu_arena_close(&tables);
	return status == MU_OK;
}

/* The nearest to today first. */
enum mu_status
mu_release_guess(struct mu_snapshot *snap, size_t limit, struct mu_why *why)
{
	struct mu_heap_releases releases;
	struct fit best = { 0, 0, 0 }, fit;
	struct mu_why rule;
	size_t row = 0;

	while (mu_heaps_releases(row, &releases))
		row++;
	while (row-- > 0 && mu_heaps_releases(row, &releases)) {
		if (!try_layout(snap, releases.last, limit, &fit, &rule))
			continue;
		if (best.minor != 0 &&
		    (best.count != fit.count || best.bytes != fit.bytes))
			return mu_why(why, MU_ERR_UNKNOWN_GLIBC,
			    "the program does not tell its glibc, and its heap"
			    " could be that of 2.%u or 2.%u",
			    fit.minor, best.minor);
		best = fit;
	}
	if (best.minor == 0)
		return mu_why(why, MU_ERR_UNKNOWN_GLIBC,
		    "a static program that does not tell its C library, and"
		    " its memory is like that of no glibc" MU_CURE
		    "if it has another"
		    " library, such as musl, it cannot be read");
	snap->glibc_major = 2;
	snap->glibc_minor = best.minor;
	snap->glibc_inferred = true;
	return MU_OK;
}
