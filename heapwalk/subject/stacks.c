/*
 * The extent of a stack comes from glibc's struct pthread and not from the
 * mappings: adjacent stacks become one mapping (always since 2.42, whose guard
 * pages are no separate mappings).
 */
#include "heapwalk/subject/stacks.h"

#include <string.h>

#include "heapwalk/heaps/glibc/pthread.h"
#include "heapwalk/heaps/musl/pthread.h"
#include "heapwalk/subject/stacks_search.h"
#include "heapwalk/subject/unwind_bufs.h"
#include "mu/arch/cpu.h"
#include "mu/bisect.h"
#include "mu/sort.h"

/*
 * struct pthread is at the top of its stack, except for the alignment that the
 * program's __thread variables need.
 */
#define MAX_ABOVE_PTHREAD ((size_t)64 << 10)

static int
compare_word(const void *a, const void *b)
{
	const uintptr_t *left = a, *right = b;

	return (*left > *right) - (*left < *right);
}

static bool
collect_words(struct mu_stacks_search *search, struct mu_arena *arena)
{
	const struct mu_snapshot *snap = search->snap;
	const struct mu_thread *thread;
	size_t i, count = snap->num_threads;

	search->sps.words = mu_arena_alloc(arena, count, sizeof(uintptr_t));
	search->tps.words = mu_arena_alloc(arena, count, sizeof(uintptr_t));
	if (search->sps.words == NULL || search->tps.words == NULL)
		return false;
	for (i = 0; i < count; i++) {
		thread = &snap->threads[i];
		if (thread->sp != 0)
			search->sps.words[search->sps.count++] = thread->sp;
		if (thread->tp != 0)
			search->tps.words[search->tps.count++] = thread->tp;
	}
	mu_sort(search->sps.words, search->sps.count, sizeof(uintptr_t),
	    compare_word);
	mu_sort(search->tps.words, search->tps.count, sizeof(uintptr_t),
	    compare_word);
	return true;
}

#ifdef MU_PTHREAD_STACKBLOCK
static bool
find_block(const struct mu_snapshot *snap, const struct mu_thread *thread,
    struct mu_range *block)
{
	return mu_stacks_read_block(
	    snap, thread->tp + MU_PTHREAD_STACKBLOCK, thread->tp, block);
}
#else
static bool
find_block(const struct mu_snapshot *snap, const struct mu_thread *thread,
    struct mu_range *block)
{
	uintptr_t down, tp = thread->tp & ~(sizeof(uintptr_t) - 1);

	for (down = 2 * sizeof(tp); down <= MU_PTHREAD_SEARCH; down += 8) {
		if (down > tp)
			break;
		if (mu_stacks_read_block(snap, tp - down, tp, block) &&
		    mu_range_has(*block, thread->sp))
			return true;
	}
	return false;
}
#endif

#ifdef MU_MUSL_SELF
/* musl's threads map their stack and what lies above it in one. */
static bool
find_musl_block(const struct mu_snapshot *snap, const struct mu_thread *thread,
    struct mu_range *block)
{
	uintptr_t self;

	return snap->glibc_major == 0 &&
	    mu_snapshot_word(snap, thread->tp + MU_MUSL_SELF, &self) &&
	    self == thread->tp &&
	    mu_stacks_read_block(
		snap, thread->tp + MU_MUSL_MAP, thread->tp, block);
}
#else
static bool
find_musl_block(const struct mu_snapshot *snap, const struct mu_thread *thread,
    struct mu_range *block)
{
	(void)snap;
	(void)thread;
	(void)block;
	return false;
}
#endif

/* The main thread's struct pthread is elsewhere and has no stack block. */
static bool
find_main_stack(const struct mu_snapshot *snap, struct mu_range *block)
{
	size_t i;

	for (i = 0; i < snap->num_mappings; i++) {
		if (strcmp(snap->mappings[i].name, "[stack]") == 0) {
			*block = snap->mappings[i].range;
			return true;
		}
	}
	return false;
}

bool
mu_stacks_block(const struct mu_snapshot *snap, const struct mu_thread *thread,
    struct mu_range *block)
{
	if (thread->tp != 0 &&
	    (find_musl_block(snap, thread, block) ||
		find_block(snap, thread, block)))
		return true;
	if (thread->tid == snap->pid && find_main_stack(snap, block))
		return true;
	*block = (struct mu_range) { 0, 0 };
	return false;
}

static bool
add_live(struct mu_stacks_search *search, const struct mu_thread *thread)
{
	const struct mu_snapshot *snap = search->snap;
	struct mu_stacks *stacks = search->stacks;
	struct mu_range block, dead, live;
	uintptr_t sp;

	if (!mu_stacks_block(snap, thread, &block))
		return true;
	live = block;
	dead = (struct mu_range) { block.begin, block.begin };
	/* Another thread may run on the same stack, further down. */
	if (mu_range_has(block, thread->sp) &&
	    mu_stacks_lowest(&search->sps, block, &sp) &&
	    sp - block.begin > MU_RED_ZONE)
		dead.end = live.begin = sp - MU_RED_ZONE;
	if (thread->calling && mu_range_has(block, thread->sp))
		stacks->calling = live;
	if (!mu_unwind_bufs_add_holes(&stacks->holes, snap, thread, live))
		return false;
	/* If there is a stack inside the stack, the block's extent is wrong. */
	if (mu_stacks_any(&search->tps, dead))
		return mu_ranges_add(&stacks->live, block);
	return mu_ranges_add(&stacks->dead, dead) &&
	    mu_ranges_add(&stacks->live, live);
}

#ifdef MU_PTHREAD_ARGUMENT
/* True if THREAD was started with an argument in RANGE, or may have been. */
static bool
has_argument_in(const struct mu_snapshot *snap, const struct mu_thread *thread,
    struct mu_range range)
{
	uintptr_t at, word;

	for (at = MU_PTHREAD_ARGUMENT; at < MU_PTHREAD_ARGUMENT_END;
	     at += sizeof(word))
		if (thread->tp == 0 ||
		    !mu_snapshot_word(snap, thread->tp + at, &word) ||
		    mu_range_has(range, word))
			return true;
	return false;
}
#else
static bool
has_argument_in(const struct mu_snapshot *snap, const struct mu_thread *thread,
    struct mu_range range)
{
	(void)snap;
	(void)thread;
	(void)range;
	return true;
}
#endif

/*
 * The first thread has ended, and its variables with it; but a thread that was
 * given one by main() may still use it. That other words refer to the frames
 * means nothing: a new thread has registers of the one that started it.
 */
static bool
add_ended_frames(struct mu_stacks_search *search)
{
	const struct mu_snapshot *snap = search->snap;
	struct mu_range frames;
	size_t i;

	if (snap->ended_frames == 0 || !find_main_stack(snap, &frames) ||
	    !mu_range_has(frames, snap->ended_frames))
		return true;
	frames.end = snap->ended_frames;
	if (mu_stacks_any(&search->sps, frames) ||
	    mu_stacks_any(&search->tps, frames))
		return true;
	for (i = 0; i < snap->num_threads; i++)
		if (has_argument_in(snap, &snap->threads[i], frames))
			return true;
	search->stacks->num_ended++;
	return mu_ranges_add(&search->stacks->dead, frames);
}

bool
mu_stacks_lowest(const struct mu_stacks_words *words, struct mu_range range,
    uintptr_t *lowest)
{
	size_t low = 0;

	mu_bisect(low, words->count, i, words->words[i] < range.begin);
	if (low == words->count || words->words[low] >= range.end)
		return false;
	*lowest = words->words[low];
	return true;
}

bool
mu_stacks_read_block(const struct mu_snapshot *snap, uintptr_t address,
    uintptr_t tp, struct mu_range *block)
{
	size_t page_size = snap->memory.page_size;
	uintptr_t size;

	if (!mu_snapshot_word(snap, address, &block->begin) ||
	    !mu_snapshot_word(snap, address + sizeof(size), &size))
		return false;
	return block->begin != 0 && block->begin % page_size == 0 &&
	    size % page_size == 0 &&
	    !__builtin_add_overflow(block->begin, size, &block->end) &&
	    mu_range_has(*block, tp) && block->end - tp <= MAX_ABOVE_PTHREAD;
}

enum mu_status
mu_stacks_find(struct mu_stacks *stacks, const struct mu_snapshot *snap,
    const struct mu_ranges *skip, struct mu_arena *arena)
{
	struct mu_stacks_search search = { .stacks = stacks, .snap = snap };
	size_t i;

	stacks->num_ended = 0;
	mu_ranges_open(&stacks->dead, arena);
	mu_ranges_open(&stacks->holes, arena);
	mu_ranges_open(&stacks->live, arena);
	stacks->calling = (struct mu_range) { 0, 0 };
	if (!collect_words(&search, arena))
		return MU_ERR_NO_MEMORY;
	for (i = 0; i < snap->num_threads; i++) {
		if (!add_live(&search, &snap->threads[i]))
			return MU_ERR_NO_MEMORY;
	}
	if (!add_ended_frames(&search) || !mu_stacks_add_ended(&search, skip))
		return MU_ERR_NO_MEMORY;
	mu_ranges_seal(&stacks->dead);
	mu_ranges_seal(&stacks->holes);
	mu_ranges_seal(&stacks->live);
	return MU_OK;
}
