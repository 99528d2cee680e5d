/*
 * Chunk after chunk: see heapwalk/glibc_chunks.h.
 *
 *	chunk -> prev_size	(of the chunk before, if that is free)
 *		 size | flags	(PREV_INUSE: the chunk before is in use)
 *	block -> usable bytes, up to and with the next chunk's prev_size
 *
 * Runs in: sweeper (any). Uses no malloc, no errno, no libc lock.
 */
#include "heapwalk/glibc_chunks.h"

#include "heapwalk/glibc_tcache.h"

#define SIZE 8          /* offset of the size word */
#define FENCE_SIZE 0x10 /* CHUNK_HDR_SZ: no chunk that malloc hands out */
#define FENCES_MAX 3    /* two, and what was left of a tiny old top */
#define ASKED_PAGES 64  /* whether they were written, at a time */
#define BAD_BITS (MU_IS_MMAPPED | 8)
#define WORD_BITS 64

/* The walk's hands; everything is an offset from chain->limit.begin. */
struct step {
	struct mu_glibc_walk *walk;
	struct mu_span *span;
	const char *view;
	size_t at, size; /* of the chunk */
	size_t end;      /* of the stretch, as far as known */
	uintptr_t flags; /* that the chunk must have */
	size_t tcache;   /* size of a tcache's chunk, at least ... */
	size_t excess;   /* ... and at most so much more */
	size_t count, bytes, num_free;
	size_t word; /* start bits not written yet: which word, what bits */
	uint64_t bits;
};

static enum mu_status
broken(const struct mu_glibc_walk *walk, const struct mu_glibc_chain *chain,
    size_t at, const char *rule)
{
	return mu_why(walk->why, MU_ERR_HEAP_INCONSISTENT,
	    "arena %p, chunk %p: %s (size word 0x%lx)",
	    (void *)walk->glibc.arenas[chain->arena],
	    (void *)(chain->limit.begin + at), rule,
	    (unsigned long)mu_glibc_word(chain->view, at + SIZE));
}

static inline void
flush(struct step *step)
{
	if (step->bits == 0)
		return;
	step->span->start[step->word] |= step->bits;
	step->span->summary[step->word / WORD_BITS] |= 1ull
	    << (step->word % WORD_BITS);
	step->bits = 0;
}

static inline void
note_live(struct step *step)
{
	size_t bit = (step->at + MU_GLIBC_HEADER) / MU_GRAIN;

	if (bit / WORD_BITS != step->word) {
		flush(step);
		step->word = bit / WORD_BITS;
	}
	step->bits |= 1ull << (bit % WORD_BITS);
	step->count++;
	step->bytes += step->size - SIZE;
	if (step->size - step->tcache <= step->excess)
		mu_glibc_suspect_add(step->walk,
		    step->span->range.begin + step->at + MU_GLIBC_HEADER);
}

static inline void
note_free(struct step *step)
{
	size_t bit = (step->at + MU_GLIBC_HEADER) / MU_GRAIN;

	step->span->mark[bit / WORD_BITS] |= 1ull << (bit % WORD_BITS);
	step->num_free++;
}

/*
 * Fenceposts at AT, the last of which ends with a page, as top did before
 * (sysmalloc() asserts it). Returns the end of the stretch, or 0.
 */
static size_t
fence_end(const struct mu_glibc_walk *walk, struct mu_range limit,
    const char *view, size_t at)
{
	size_t page = walk->snap->memory.page_size, count;
	uintptr_t word;

	for (count = 1;
	     count <= FENCES_MAX && mu_range_size(limit) - at >= FENCE_SIZE;
	     count++) {
		word = mu_glibc_word(view, at + SIZE);

		if ((word & ~(uintptr_t)MU_PREV_INUSE) != FENCE_SIZE)
			return 0;
		at += FENCE_SIZE;
		if ((limit.begin + at) % page == 0)
			return count >= 2 && (word & MU_PREV_INUSE) != 0 ? at
									 : 0;
	}
	return 0;
}

/*
 * A non-main heap that was left: its last 16 bytes are a header of size 0,
 * and before them is a fencepost, of 0x20 bytes if old top left too little to
 * be a chunk.
 */
static const char *
heap_end_rule(const struct step *step)
{
	size_t last = step->end - MU_GLIBC_HEADER;

	if (mu_glibc_word(step->view, last + SIZE) != MU_PREV_INUSE)
		return "no fencepost at the end of its heap";
	if (step->size != FENCE_SIZE && step->size != 2 * FENCE_SIZE)
		return "no fencepost before the end of its heap";
	if (mu_glibc_word(step->view, last) != step->size)
		return "prev_size behind the fencepost disagrees";
	return NULL;
}

/* One chunk that is neither top nor fencepost; NULL, or the rule it breaks. */
static inline const char *
take_chunk(struct step *step, uintptr_t word)
{
	uintptr_t next;

	if ((word & BAD_BITS) != 0 || step->size < MU_GLIBC_MINSIZE)
		return "impossible size";
	if (step->size > step->end - step->at - MU_GLIBC_HEADER)
		return "size leads out of the heap";
	next = mu_glibc_word(step->view, step->at + step->size + SIZE);
	if ((next & MU_PREV_INUSE) != 0) {
		if ((word & MU_NON_MAIN_ARENA) != step->flags)
			return "NON_MAIN_ARENA disagrees with the arena";
		note_live(step);
	} else {
		if (mu_glibc_word(step->view, step->at + step->size) !=
		    step->size)
			return "free, but prev_size behind it disagrees";
		note_free(step);
	}
	step->at += step->size;
	return NULL;
}

/* Up to top, fenceposts or the end of a heap; NULL, or the rule broken. */
static const char *
take_all(const struct mu_glibc_walk *walk, struct mu_glibc_chain *chain,
    struct step *step)
{
	size_t top =
	    chain->top != 0 ? chain->top - chain->limit.begin : SIZE_MAX;
	size_t last = step->end - MU_GLIBC_HEADER, end;
	const char *rule;
	uintptr_t word;

	while (step->at != top) {
		word = mu_glibc_word(step->view, step->at + SIZE);
		step->size = word & ~(uintptr_t)MU_SIZE_FLAGS;
		if (chain->main && step->size == FENCE_SIZE) {
			end = fence_end(
			    walk, chain->limit, chain->view, step->at);
			chain->end = chain->limit.begin + end;
			return end == 0 ? "lone fencepost" : NULL;
		}
		if (!chain->main && top == SIZE_MAX &&
		    step->at + step->size == last)
			return heap_end_rule(step);
		rule = take_chunk(step, word);
		if (rule != NULL)
			return rule;
	}
	return NULL;
}

static const char *
top_rule(struct mu_glibc_chain *chain)
{
	uintptr_t word =
	    mu_glibc_word(chain->view, chain->top - chain->limit.begin + SIZE);
	size_t size = word & ~(uintptr_t)MU_SIZE_FLAGS;

	if ((word & (BAD_BITS | MU_PREV_INUSE)) != MU_PREV_INUSE ||
	    size < MU_GLIBC_HEADER || size > chain->limit.end - chain->top)
		return "impossible size of top";
	if (!chain->main && size != chain->limit.end - chain->top)
		return "top does not end where its heap does";
	chain->end = chain->top + size;
	return NULL;
}

enum mu_status
mu_glibc_chain_walk(struct mu_glibc_walk *walk, struct mu_glibc_chain *chain)
{
	struct step step = {
		.walk = walk,
		.tcache = mu_glibc_tcache_chunk(walk),
		.excess = mu_glibc_tcache_excess(walk),
		.view = chain->view,
		.end = mu_range_size(chain->limit),
		.flags = chain->main ? 0 : MU_NON_MAIN_ARENA,
	};
	const char *rule = NULL;

	step.span =
	    mu_blocks_add_span(&walk->heap->blocks, chain->limit, chain->view);
	if (step.span == NULL)
		return mu_glibc_no_memory(walk);
	if (chain->top != 0) {
		rule = top_rule(chain);
		if (rule != NULL)
			return broken(
			    walk, chain, chain->top - chain->limit.begin, rule);
		step.end = chain->end - chain->limit.begin;
	}
	if (chain->limit.begin != chain->top &&
	    (mu_glibc_word(chain->view, SIZE) & MU_PREV_INUSE) == 0)
		return broken(walk, chain, 0,
		    "the first chunk says that one before it is free");
	chain->end = chain->limit.end;
	if (chain->top != 0)
		chain->end = chain->limit.begin + step.end;
	rule = take_all(walk, chain, &step);
	if (rule != NULL)
		return broken(walk, chain, step.at, rule);
	flush(&step);
	step.span->range.end = chain->end;
	step.span->num_words =
	    (chain->end - chain->limit.begin) / MU_GRAIN / WORD_BITS + 1;
	step.span->count = step.count;
	step.span->bytes = step.bytes;
	step.span->owner = chain->arena;
	walk->num_free[chain->arena] += step.num_free;
	return MU_OK;
}

bool
mu_glibc_chunk_plausible(
    struct mu_range limit, const char *view, uintptr_t address)
{
	size_t at = address - limit.begin, left = limit.end - address, size;
	uintptr_t word, next;

	if (left < MU_GLIBC_MINSIZE)
		return false;
	word = mu_glibc_word(view, at + SIZE);
	size = word & ~(uintptr_t)MU_SIZE_FLAGS;
	if ((word & (BAD_BITS | MU_NON_MAIN_ARENA)) != 0 ||
	    size < MU_GLIBC_MINSIZE || size > left - MU_GLIBC_HEADER)
		return false;
	next = mu_glibc_word(view, at + size + SIZE);
	if ((next & (BAD_BITS | MU_NON_MAIN_ARENA)) != 0)
		return false;
	return (next & MU_PREV_INUSE) != 0 ||
	    mu_glibc_word(view, at + size) == size;
}

static bool
test_bit(const uint64_t *bits, size_t bit)
{
	return (bits[bit / WORD_BITS] >> (bit % WORD_BITS) & 1) != 0;
}

/* As mu_glibc_written(), asked seldom: KNOWN is the last answer's run. */
static bool
was_written(
    const struct mu_glibc_walk *walk, uintptr_t address, struct mu_range *known)
{
	struct mu_memory *memory = (struct mu_memory *)&walk->snap->memory;
	uintptr_t begin = address - address % memory->page_size;
	struct mu_range ask = { begin,
		begin + ASKED_PAGES * memory->page_size };

	if (mu_range_has(*known, address))
		return true;
	return memory->ops->populated(memory, ask, known) &&
	    mu_range_has(*known, address);
}

bool
mu_glibc_chain_probe(const struct mu_glibc_walk *walk,
    struct mu_glibc_chain *chain, struct mu_glibc_probe *probe, uintptr_t from)
{
	size_t at = from - chain->limit.begin, size, end;
	struct mu_range written = { 0, 0 };
	uintptr_t word;

	for (;; at += size) {
		chain->end = chain->limit.begin + at;
		if (chain->top != 0 && chain->end == chain->top)
			return true;
		if (probe->budget == 0 ||
		    mu_range_size(chain->limit) - at < MU_GLIBC_HEADER)
			return false;
		probe->budget--;
		if (probe->seen != NULL) {
			if (test_bit(probe->seen, at / MU_GRAIN))
				return false;
			probe->seen[at / MU_GRAIN / WORD_BITS] |= 1ull
			    << (at / MU_GRAIN % WORD_BITS);
		}
		if (probe->scattered &&
		    !was_written(walk, chain->limit.begin + at, &written))
			return false;
		word = mu_glibc_word(chain->view, at + SIZE);
		if (chain->limit.begin + at == from &&
		    (word & MU_PREV_INUSE) == 0)
			return false;
		if ((word & ~(uintptr_t)MU_PREV_INUSE) == FENCE_SIZE) {
			end = fence_end(walk, chain->limit, chain->view, at);
			chain->end = chain->limit.begin + end;
			return end != 0 && chain->limit.begin + at != from;
		}
		size = word & ~(uintptr_t)MU_SIZE_FLAGS;
		if (probe->scattered &&
		    size < mu_range_size(chain->limit) - at &&
		    !was_written(
			walk, chain->limit.begin + at + size, &written))
			return false;
		if (!mu_glibc_chunk_plausible(
			chain->limit, chain->view, chain->limit.begin + at))
			return false;
	}
}
