/*
 * Where the threads keep their tcache: see heapwalk/glibc_tcache.h.
 *
 * libc's variable of static TLS is at one offset from the thread pointer, the
 * same for all threads. Which one differs from program to program. At the
 * right one each thread has NULL or a tcache_perthread_struct. Close to it, in
 * the same object file of libc, is thread_arena: NULL or an arena of the ring.
 *
 * Runs in: sweeper (any). Uses no malloc, no errno, no libc lock.
 */
#include "heapwalk/glibc_tcache.h"
#include "mu/arch.h"
#include "mu/sort.h"

#define WORD sizeof(uintptr_t)
#define WINDOW_MAX 65536 /* bytes of static TLS */
#define NEAR 64          /* bytes between tcache and thread_arena */
#define FAR SIZE_MAX

struct candidate {
	size_t offset; /* from the thread pointer */
	bool near;     /* thread_arena is there too */
	size_t structs, entries;
};

struct tls {
	struct mu_glibc_walk *walk;
	const char **views; /* of each thread: what is at its thread pointer */
	uintptr_t *tps;
	size_t num_tps;
	size_t window;       /* bytes that all of them have */
	size_t arena_offset; /* of thread_arena, or FAR */
	struct candidate best;

	/* Why the likeliest place was none. */
	struct mu_glibc_tcache failure;
	uintptr_t failed;
	bool failed_near;
};

static int
by_address(const void *a, const void *b)
{
	uintptr_t left = *(const uintptr_t *)a, right = *(const uintptr_t *)b;

	return (left > right) - (left < right);
}

static uintptr_t
slot(const struct tls *tls, size_t thread, size_t offset)
{
	return MU_TLS_BELOW_TP ? mu_glibc_word(tls->views[thread] - offset, 0)
			       : mu_glibc_word(tls->views[thread] + offset, 0);
}

/* How much of TLS a thread has on the side of TP where variables are. */
static size_t
window_of(const struct mu_snapshot *snap, uintptr_t tp)
{
	const struct mu_mapping *mapping = mu_snapshot_mapping(snap, tp);
	uintptr_t self = tp;
	size_t size;

	if (mapping == NULL || tp % WORD != 0)
		return 0;
	/* tcbhead_t.tcb; a thread without one is none of libc's. */
	if (MU_TLS_BELOW_TP &&
	    (!mu_snapshot_word(snap, tp, &self) || self != tp))
		return 0;
	size = MU_TLS_BELOW_TP ? tp - mapping->range.begin
			       : mapping->range.end - tp - WORD;
	return size < WINDOW_MAX ? size : WINDOW_MAX;
}

static enum mu_status
find_threads(struct tls *tls)
{
	const struct mu_snapshot *snap = tls->walk->snap;
	size_t i, size, count = snap->num_threads;

	tls->tps =
	    mu_arena_alloc(tls->walk->memory, count + 1, sizeof(*tls->tps));
	tls->views =
	    mu_arena_alloc(tls->walk->memory, count + 1, sizeof(*tls->views));
	if (tls->tps == NULL || tls->views == NULL)
		return mu_glibc_no_memory(tls->walk);
	for (i = 0; i < count; i++)
		tls->tps[i] = snap->threads[i].tp;
	mu_sort(tls->tps, count, sizeof(*tls->tps), by_address);
	for (i = 0; i < count; i++) {
		uintptr_t tp = tls->tps[i];

		if (tp == 0 ||
		    (tls->num_tps > 0 && tls->tps[tls->num_tps - 1] == tp))
			continue;
		size = window_of(snap, tp);
		if (size == 0)
			continue;
		if (size < tls->window)
			tls->window = size;
		tls->views[tls->num_tps] = mu_snapshot_view(snap, tp, WORD);
		if (tls->views[tls->num_tps] != NULL)
			tls->tps[tls->num_tps++] = tp;
	}
	return MU_OK;
}

static bool
in_ring(const struct mu_glibc *glibc, uintptr_t value)
{
	size_t i;

	for (i = 0; i < glibc->num_arenas; i++)
		if (glibc->arenas[i] == value)
			return true;
	return false;
}

/* Does every thread have NULL or an arena at OFFSET, and one an arena? */
static bool
is_thread_arena(const struct tls *tls, size_t offset)
{
	size_t i, arenas = 0;
	uintptr_t value;

	for (i = 0; i < tls->num_tps; i++) {
		value = slot(tls, i, offset);
		if (value == 0)
			continue;
		if (!in_ring(&tls->walk->glibc, value))
			return false;
		arenas++;
	}
	return arenas > 0;
}

/* Every thread has NULL or a chunk that could be a tcache at OFFSET. */
static bool
is_plausible(const struct tls *tls, struct candidate *candidate)
{
	uintptr_t value;
	size_t i;

	for (i = 0; i < tls->num_tps; i++) {
		value = slot(tls, i, candidate->offset);
		if (value == 0)
			continue;
		if (!mu_glibc_tcache_plausible(tls->walk, value))
			return false;
		candidate->structs++;
	}
	return candidate->structs > 0;
}

static bool
is_valid(struct tls *tls, struct candidate *candidate)
{
	struct mu_glibc_tcache result;
	uintptr_t value;
	size_t i;

	for (i = 0; i < tls->num_tps; i++) {
		value = slot(tls, i, candidate->offset);
		if (value == 0)
			continue;
		mu_glibc_tcache_check(tls->walk, value, true, &result);
		candidate->entries += result.entries;
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
 * A program can have a pointer of its own in TLS to a block of that size and
 * of zeros, which passes for an empty tcache.
 */
static bool
is_better(const struct candidate *a, const struct candidate *b)
{
	if (b->structs == 0)
		return true;
	if ((a->entries > 0) != (b->entries > 0))
		return a->entries > 0;
	if (a->near != b->near)
		return a->near;
	return a->structs > b->structs;
}

/* The nearest place: farther off may be stacks, where all sorts of words are.
 */
static void
find_thread_arena(struct tls *tls)
{
	size_t offset;

	tls->arena_offset = FAR;
	for (offset = MU_TLS_BELOW_TP ? WORD : 0; offset <= tls->window;
	     offset += WORD) {
		if (is_thread_arena(tls, offset)) {
			tls->arena_offset = offset;
			return;
		}
	}
}

/* Copies of the same pointers, on stacks below the TLS for example. */
static bool
is_same(const struct tls *tls, size_t a, size_t b)
{
	size_t i;

	for (i = 0; i < tls->num_tps; i++)
		if (slot(tls, i, a) != slot(tls, i, b))
			return false;
	return true;
}

static enum mu_status
find_slot(struct tls *tls)
{
	size_t offset;

	for (offset = MU_TLS_BELOW_TP ? WORD : 0; offset <= tls->window;
	     offset += WORD) {
		struct candidate candidate = { .offset = offset };

		candidate.near = tls->arena_offset != FAR &&
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
 * A main thread that called pthread_exit() stays as a zombie, and its tcache
 * as it was: __libc_start_call_main() never runs __libc_thread_freeres().
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

enum mu_status
mu_glibc_tcaches_take(struct mu_glibc_walk *walk)
{
	struct tls tls = { .walk = walk, .window = WINDOW_MAX };
	enum mu_status status = find_threads(&tls);
	size_t i;

	if (status != MU_OK)
		return status;
	if (tls.num_tps > 0) {
		find_thread_arena(&tls);
		status = find_slot(&tls);
	}
	if (status != MU_OK)
		return status;
	if (tls.failed != 0 &&
	    (tls.best.structs == 0 || (tls.failed_near && !tls.best.near)))
		return mu_why(walk->why, MU_ERR_HEAP_INCONSISTENT,
		    "tcache %p, bin %zu: %s", (void *)tls.failed,
		    tls.failure.bin, tls.failure.rule);
	for (i = 0; i < tls.num_tps && tls.best.structs > 0; i++) {
		uintptr_t tcache = slot(&tls, i, tls.best.offset);

		if (tcache != 0)
			status = mu_glibc_tcache_take(walk, tcache);
		if (status != MU_OK)
			return status;
	}
	return mu_glibc_orphans_take(
	    walk, tls.best.structs > 0 || leader_ended(walk->snap));
}
