/*
 * 5.2 has a block for each thread that its tsd_t leads to (arenas_tdata). All
 * tsd_t are in a ring (tsd_link, in their tcache_t), to which a variable of
 * jemalloc leads (tsd_nominal_tsds).
 */
#include "heapwalk/heaps/jemalloc/heap.h"

#define TSDS_MAX ((size_t)1 << 20)
#define WORD sizeof(uintptr_t)

/* tsd: tsd_t. Before tcache is a byte for each bin, and padding. */
#define TSD_NOMINAL_MAX 2 /* of its state, its first byte */
#define TSD_TDATA 448
#define TSD_TCACHE 496

struct search {
	const struct mu_snapshot *snap;
	struct mu_jemalloc *found;
};

/* The offset of tsd_link, which follows the tcache_t's link. */
static size_t
link_of(const struct mu_jemalloc *je)
{
	return TSD_TCACHE + mu_je_small_end(je->sizes) + 2 * WORD;
}

static bool
see_tsd(void *ctx, uintptr_t at, uintptr_t word)
{
	struct search *search = ctx;
	size_t link = link_of(search->found);
	uintptr_t next = mu_word_at(search->snap, word + link);
	uintptr_t last = mu_word_at(search->snap, word + link + WORD);

	(void)at;
	/* The tsd_t of a thread that has ended is in a ring by itself. */
	if (mu_word_at(search->snap, next + link + WORD) != word ||
	    mu_word_at(search->snap, last + link) != word ||
	    (mu_word_at(search->snap, word) & 0xff) > TSD_NOMINAL_MAX)
		return true;
	search->found->tsd = word;
	return false;
}

void
mu_je_tsd_find(struct mu_jemalloc *found, const struct mu_snapshot *snap,
    struct mu_range data)
{
	struct search search = { snap, found };

	mu_each_word(snap, data, see_tsd, &search);
}

void
mu_je_tsds_take(struct mu_je_walk *walk)
{
	size_t link = link_of(&walk->je), steps;
	uintptr_t tsd = walk->je.tsd, tdata;
	const struct mu_je_extent *extent;

	for (steps = 0; tsd != 0 && steps < TSDS_MAX; steps++) {
		tdata = mu_word_at(walk->snap, tsd + TSD_TDATA);
		extent = tdata == 0
		    ? NULL
		    : mu_je_take(walk, tdata, MU_JE_CLASSES_MAX);
		if (extent != NULL)
			walk->internal += extent->size;
		tsd = mu_word_at(walk->snap, tsd + link);
		if (tsd == walk->je.tsd)
			break;
	}
}
