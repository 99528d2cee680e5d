#include "heapwalk/heaps/glibc/tls_words.h"

#include "mu/sort.h"

#define WORD sizeof(uintptr_t)

/*
 * Bytes of static TLS that are searched. libc's variables come after the
 * program's. With 4 KiB pages this and the page of the thread pointer are 63
 * pages: unwritten has 64 bits.
 */
#define WINDOW_MAX ((size_t)62 * 4096)

static int
by_address(const void *a, const void *b)
{
	uintptr_t left = *(const uintptr_t *)a, right = *(const uintptr_t *)b;

	return (left > right) - (left < right);
}

/* The bytes of TLS of a thread on the side of TP where variables are. */
static size_t
window_of(const struct mu_snapshot *snap, uintptr_t tp)
{
	const struct mu_mapping *mapping = mu_snapshot_mapping(snap, tp);
	uintptr_t self = tp;
	size_t size;

	if (mapping == NULL || tp % WORD != 0)
		return 0;
	/* tcbhead_t.tcb; a thread without it was not started by libc. */
	if (MU_TLS_BELOW_TP &&
	    (!mu_snapshot_word(snap, tp, &self) || self != tp))
		return 0;
	size = MU_TLS_BELOW_TP ? tp - mapping->range.begin
			       : mapping->range.end - tp - WORD;
	return size < WINDOW_MAX ? size : WINDOW_MAX;
}

/* A view of TP with WINDOW bytes on the side of the variables. */
static const char *
view_at(const struct mu_snapshot *snap, uintptr_t tp, size_t window)
{
	size_t below = MU_TLS_BELOW_TP ? window : 0;
	const char *view = mu_snapshot_view(snap, tp - below, window + WORD);

	return view == NULL ? NULL : view + below;
}

/*
 * Below the TLS lies the thread's stack; below a small one its guard or another
 * thread's stack.
 */
static uint64_t
unwritten_pages(const struct mu_glibc_tls_words *words,
    const struct mu_glibc_walk *walk, uintptr_t tp, size_t window)
{
	uintptr_t page = (uintptr_t)1 << words->page_shift, at;
	uintptr_t first = MU_TLS_BELOW_TP ? tp - window : tp;
	uintptr_t last = MU_TLS_BELOW_TP ? tp : tp + window;
	uint64_t unwritten = 0;

	for (at = first - first % page; at <= last; at += page)
		if (!mu_glibc_written(walk, at))
			unwritten |= 1ull << mu_glibc_tls_page(words, tp, at);
	return unwritten;
}

/*
 * Static TLS has the same size in every thread, so the smallest window has all
 * of it. Threads whose TLS cannot be read are left out.
 */
static void
view_all(struct mu_glibc_tls_words *words, const struct mu_glibc_walk *walk)
{
	size_t i, count = words->num_tps;
	uintptr_t tp;

	words->num_tps = 0;
	for (i = 0; i < count; i++) {
		tp = words->tps[i];
		words->unwritten[words->num_tps] =
		    unwritten_pages(words, walk, tp, words->window);
		words->views[words->num_tps] =
		    view_at(walk->snap, tp, words->window);
		if (words->views[words->num_tps] != NULL)
			words->tps[words->num_tps++] = tp;
	}
}

/*
 * True if every thread has NULL or an arena at OFFSET, and at least one an
 * arena.
 */
static bool
is_thread_arena(const struct mu_glibc_tls_words *words,
    const struct mu_glibc *glibc, size_t offset)
{
	size_t i, arenas = 0;
	uintptr_t value;

	for (i = 0; i < words->num_tps; i++) {
		value = mu_glibc_tls_word(words, i, offset);
		if (value == 0)
			continue;
		if (!mu_glibc_has_arena(glibc, value))
			return false;
		arenas++;
	}
	return arenas > 0;
}

static bool
has_leader(const struct mu_snapshot *snap)
{
	size_t i;

	for (i = 0; i < snap->num_threads; i++)
		if (snap->threads[i].tid == snap->pid)
			return true;
	return false;
}

/*
 * The thread pointer of a main thread that has ended, in a static program: its
 * TLS comes before malloc's memory (__libc_setup_tls() calls sbrk()). 0: none.
 */
static uintptr_t
ended_leader(const struct mu_glibc_walk *walk)
{
	const struct mu_snapshot *snap = walk->snap;
	uintptr_t end = mu_glibc_arena_word(
	    walk, walk->glibc.mp, walk->glibc.layout->par_sbrk_base);
	const struct mu_mapping *mapping = mu_snapshot_mapping(snap, end);
	uintptr_t tp, tcb, self;

	if (!MU_TLS_BELOW_TP || mapping == NULL || has_leader(snap) ||
	    end - mapping->range.begin > WINDOW_MAX)
		return 0;
	for (tp = mapping->range.begin; tp < end; tp += 16)
		if (mu_snapshot_word(snap, tp, &tcb) && tcb == tp &&
		    mu_snapshot_word(snap, tp + 2 * WORD, &self) && self == tp)
			return tp;
	return 0;
}

enum mu_status
mu_glibc_tls_words_find(
    struct mu_glibc_tls_words *out, struct mu_glibc_walk *walk)
{
	const struct mu_snapshot *snap = walk->snap;
	size_t i, size, count = snap->num_threads;

	*out = (struct mu_glibc_tls_words) { .window = WINDOW_MAX,
		.page_shift =
		    (unsigned)__builtin_ctzl(snap->memory.page_size) };
	out->tps = mu_arena_alloc(walk->memory, count + 1, sizeof(*out->tps));
	out->views =
	    mu_arena_alloc(walk->memory, count + 1, sizeof(*out->views));
	out->unwritten =
	    mu_arena_alloc(walk->memory, count + 1, sizeof(*out->unwritten));
	if (out->tps == NULL || out->views == NULL || out->unwritten == NULL)
		return mu_glibc_no_memory(walk);
	for (i = 0; i < count; i++)
		out->tps[i] = snap->threads[i].tp;
	out->tps[count++] = ended_leader(walk);
	mu_sort(out->tps, count, sizeof(*out->tps), by_address);
	for (i = 0; i < count; i++) {
		uintptr_t tp = out->tps[i];

		if (tp == 0 ||
		    (out->num_tps > 0 && out->tps[out->num_tps - 1] == tp))
			continue;
		size = window_of(snap, tp);
		if (size == 0)
			continue;
		if (size < out->window)
			out->window = size;
		out->tps[out->num_tps++] = tp;
	}
	view_all(out, walk);
	return MU_OK;
}

/*
 * Take the nearest place: farther away there may be stacks, with arbitrary
 * words.
 */
size_t
mu_glibc_tls_words_arena(
    const struct mu_glibc_tls_words *words, const struct mu_glibc_walk *walk)
{
	size_t offset;

	for (offset = MU_GLIBC_FIRST_TLS_WORD; offset <= words->window;
	     offset += WORD) {
		if (is_thread_arena(words, &walk->glibc, offset))
			return offset;
	}
	return MU_GLIBC_FAR;
}
