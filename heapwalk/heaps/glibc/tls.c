/*
 * Find the variable with each thread's tcache: see
 * heapwalk/heaps/glibc/tcache.h.
 *
 * libc's variable in static TLS has one offset from the thread pointer, the
 * same for all threads, but different from program to program. At the right
 * offset each thread has NULL (since 2.43: a constant, all zeros) or a
 * tcache_perthread_struct. Near it, in the same object file of libc, is
 * thread_arena: NULL or an arena of the ring.
 */
#include <string.h>

#include "heapwalk/heaps/glibc/tcache.h"
#include "heapwalk/heaps/glibc/tls_words.h"
#include "heapwalk/subject/stacks.h"

#define WORD sizeof(uintptr_t)
#define NEAR 64 /* bytes between tcache and thread_arena */

struct candidate {
	size_t offset; /* from the thread pointer */
	bool near;     /* thread_arena is near, too */
	size_t structs, entries, dummies;
};

struct tls {
	struct mu_glibc_walk *walk;
	struct mu_glibc_tls_words words;
	size_t arena_offset; /* of thread_arena, or MU_GLIBC_FAR */
	struct candidate best;

	/* Why the most likely place was rejected. */
	struct mu_glibc_tcache failure;
	uintptr_t failed;
	bool failed_near;
};

static uintptr_t
slot(const struct tls *tls, size_t thread, size_t offset)
{
	return mu_glibc_tls_word(&tls->words, thread, offset);
}

static bool
is_any(const struct candidate *candidate)
{
	return candidate->structs + candidate->dummies > 0;
}

/*
 * True for __tcache_dummy, which stands for no tcache: two empty ones in a
 * constant of libc, one word apart.
 */
static bool
is_dummy(const struct tls *tls, uintptr_t value)
{
	const struct mu_glibc *glibc = &tls->walk->glibc;
	const struct mu_snapshot *snap = tls->walk->snap;
	const struct mu_mapping *mapping, *libc;
	size_t size = glibc->layout->tcache_size, i;
	const char *view;

	if (!glibc->layout->tcache_dummies || value % WORD != 0)
		return false;
	mapping = mu_snapshot_mapping(snap, value);
	libc = mu_snapshot_mapping(snap, glibc->main_arena);
	if (mapping == NULL || libc == NULL || mapping->writable ||
	    mapping->inode != libc->inode ||
	    mapping->dev_major != libc->dev_major ||
	    mapping->dev_minor != libc->dev_minor)
		return false;
	view = mu_snapshot_view(snap, value, size);
	for (i = 0; view != NULL && i < size; i += WORD)
		if (mu_glibc_word(view, i) != 0)
			return false;
	return view != NULL;
}

/*
 * True if every thread has NULL or a possible tcache at the candidate's offset.
 */
static bool
is_plausible(const struct tls *tls, struct candidate *candidate)
{
	uintptr_t value;
	size_t i;

	for (i = 0; i < tls->words.num_tps; i++) {
		value = slot(tls, i, candidate->offset);
		if (value == 0)
			continue;
		if (mu_glibc_tcache_plausible(tls->walk, value))
			candidate->structs++;
		else if (is_dummy(tls, value))
			candidate->dummies++;
		else
			return false;
	}
	return is_any(candidate);
}

static bool
is_valid(struct tls *tls, struct candidate *candidate)
{
	struct mu_glibc_tcache result;
	uintptr_t value;
	size_t i;

	for (i = 0; i < tls->words.num_tps; i++) {
		value = slot(tls, i, candidate->offset);
		if (value == 0 || is_dummy(tls, value))
			continue;
		mu_glibc_tcache_check(tls->walk, value, true, &result);
		candidate->entries += result.entries;
		if (result.rule == NULL)
			result.rule = mu_glibc_tcache_off_rule(
			    tls->walk, tls->words.tps[i], value, result.off);
		if (result.rule == NULL)
			continue;
		if (tls->failed == 0 ||
		    (candidate->near && !tls->failed_near)) {
			tls->failure = result;
			tls->failed = value;
			tls->failed_near = candidate->near;
		}
		return false;
	}
	return true;
}

/*
 * TLS of a program can have a pointer to a zeroed block of that size, which
 * looks like an empty tcache.
 */
static bool
is_better(const struct candidate *a, const struct candidate *b)
{
	if (!is_any(b))
		return true;
	if ((a->entries > 0) != (b->entries > 0))
		return a->entries > 0;
	if (a->near != b->near)
		return a->near;
	return a->structs > b->structs;
}

/* True for copies of the same pointers, such as on stacks below the TLS. */
static bool
is_same(const struct tls *tls, size_t a, size_t b)
{
	size_t i;

	for (i = 0; i < tls->words.num_tps; i++)
		if (slot(tls, i, a) != slot(tls, i, b))
			return false;
	return true;
}

static enum mu_status
find_slot(struct tls *tls)
{
	size_t offset;

	for (offset = MU_GLIBC_FIRST_TLS_WORD; offset <= tls->words.window;
	     offset += WORD) {
		struct candidate candidate = { .offset = offset };

		candidate.near = tls->arena_offset != MU_GLIBC_FAR &&
		    offset + NEAR >= tls->arena_offset &&
		    offset <= tls->arena_offset + NEAR;
		if (!is_plausible(tls, &candidate) ||
		    !is_valid(tls, &candidate))
			continue;
		if (candidate.entries > 0 && tls->best.entries > 0 &&
		    candidate.near == tls->best.near &&
		    !is_same(tls, offset, tls->best.offset))
			return mu_why(tls->walk->why, MU_ERR_HEAP_INCONSISTENT,
			    "TLS has tcaches at offset %zu and at %zu",
			    tls->best.offset, offset);
		if (is_better(&candidate, &tls->best))
			tls->best = candidate;
	}
	return MU_OK;
}

/*
 * A main thread that called pthread_exit() stays as a zombie with its tcache:
 * __libc_start_call_main() never runs __libc_thread_freeres().
 */
static bool
leader_ended(const struct mu_snapshot *snap)
{
	size_t i;

	for (i = 0; i < snap->num_threads; i++) {
		if (snap->threads[i].tid == snap->pid)
			return false;
	}
	return snap->num_threads > 0;
}

/*
 * True for a child forked by another thread than the first: the tcaches of the
 * first thread and of all others have no thread.
 */
static bool
leader_was_no_first(const struct mu_snapshot *snap)
{
	const struct mu_mapping *mapping;
	struct mu_range block;
	size_t i;

	for (i = 0; i < snap->num_threads; i++) {
		if (snap->threads[i].tid != snap->pid ||
		    !mu_stacks_block(snap, &snap->threads[i], &block))
			continue;
		mapping = mu_snapshot_mapping(snap, block.begin);
		return mapping != NULL && strcmp(mapping->name, "[stack]") != 0;
	}
	return false;
}

/*
 * If all threads have only the constant: is the offset wrong? It is if a nearby
 * one leads to a block that could be a tcache.
 */
static bool
is_other_near(const struct tls *tls)
{
	const struct mu_glibc_walk *walk = tls->walk;
	size_t thread, offset, i;

	for (offset = tls->arena_offset > NEAR ? tls->arena_offset - NEAR
					       : WORD;
	     offset <= tls->arena_offset + NEAR && offset <= tls->words.window;
	     offset += WORD)
		for (thread = 0; thread < tls->words.num_tps; thread++)
			for (i = 0; i < walk->num_candidates; i++)
				if (slot(tls, thread, offset) ==
				    walk->candidates[i])
					return true;
	return false;
}

/* True if there may be tcaches without a thread. */
static bool
are_orphans_expected(const struct tls *tls)
{
	return tls->best.structs > 0 || leader_ended(tls->walk->snap) ||
	    leader_was_no_first(tls->walk->snap) ||
	    (tls->best.near && !is_other_near(tls));
}

enum mu_status
mu_glibc_tcaches_take(struct mu_glibc_walk *walk)
{
	struct tls tls = { .walk = walk };
	enum mu_status status = mu_glibc_tls_words_find(&tls.words, walk);
	size_t i;

	if (status != MU_OK)
		return status;
	if (tls.words.num_tps > 0) {
		tls.arena_offset = mu_glibc_tls_words_arena(&tls.words, walk);
		status = find_slot(&tls);
	}
	if (status != MU_OK)
		return status;
	if (tls.failed != 0 &&
	    (!is_any(&tls.best) || (tls.failed_near && !tls.best.near)))
		return mu_why(walk->why, MU_ERR_HEAP_INCONSISTENT,
		    "tcache %p, bin %zu: %s", (void *)tls.failed,
		    tls.failure.bin, tls.failure.rule);
	if (mu_glibc_strict(walk) && !tls.best.near)
		return mu_why(walk->why, MU_ERR_HEAP_INCONSISTENT,
		    "TLS has no tcache beside thread_arena");
	for (i = 0; i < tls.words.num_tps && tls.best.structs > 0; i++) {
		uintptr_t tcache = slot(&tls, i, tls.best.offset);

		if (tcache != 0 && !is_dummy(&tls, tcache))
			status = mu_glibc_tcache_take(walk, tcache);
		if (status != MU_OK)
			return status;
	}
	return mu_glibc_orphans_take(walk, are_orphans_expected(&tls),
	    is_any(&tls.best) ? tls.best.offset : 0);
}
