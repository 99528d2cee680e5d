/*
 * Where a chunk is only the one before it tells, so that each would be a wait
 * for memory. The lines of a page are called for as the walk enters it. 10^6
 * chunks of 200 bytes in a fresh copy (2 cores Xeon, kernel 6.18): 75 ns a
 * chunk without, 46 ns with.
 *
 * A page that was not read since the fork has to have its accessed bit set
 * first: 0.6 us and more. An EPYC does that beside other work if a line of the
 * page is called for long before: 512 MiB of such pages in 107 ms, not 254, and
 * the walk of 10^6 chunks in 40 to 70 ms, not 130 to 190 (2 cores, kernel 6.18,
 * load 10). A Xeon did not.
 */
#include "heapwalk/heaps/glibc/step.h"

#include "heapwalk/heaps/glibc/tcache.h"
#include "heapwalk/heaps/spans.h"

#define FENCES_MAX 3         /* two, and what was left of a tiny old top */
#define LINE 64              /* bytes that memory gives at a time */
#define FETCHED 4096         /* bytes that the lines are called for of */
#define AHEAD (16 * FETCHED) /* where a page is called for before the walk */
#define CROWD 4              /* chunks in them that make it worth while */

size_t
mu_glibc_fence_end(
    struct mu_range limit, const char *view, size_t page_size, size_t at)
{
	uintptr_t word;
	size_t count;

	for (count = 1; count <= FENCES_MAX &&
	     mu_range_size(limit) - at >= MU_GLIBC_FENCE_SIZE;
	     count++) {
		word = mu_glibc_word(view, at + MU_GLIBC_SIZE);

		if ((word & ~(uintptr_t)MU_PREV_INUSE) != MU_GLIBC_FENCE_SIZE)
			return 0;
		at += MU_GLIBC_FENCE_SIZE;
		if ((limit.begin + at) % page_size == 0)
			return count >= 2 && (word & MU_PREV_INUSE) != 0 ? at
									 : 0;
	}
	return 0;
}

/*
 * A non-main heap that was left: its last 16 bytes are a header of size 0,
 * and before them is a fencepost, of 0x20 bytes if old top left too little to
 * be a chunk. SIZE is that of the chunk there.
 */
static const char *
heap_end_rule(const struct mu_glibc_rules *rules, size_t size)
{
	size_t last = rules->end - MU_GLIBC_HEADER;

	if (mu_glibc_word(rules->view, last + MU_GLIBC_SIZE) != MU_PREV_INUSE)
		return "no fencepost at the end of its heap";
	if (size != MU_GLIBC_FENCE_SIZE && size != 2 * MU_GLIBC_FENCE_SIZE)
		return "no fencepost before the end of its heap";
	if (mu_glibc_word(rules->view, last) != size)
		return "prev_size behind the fencepost disagrees";
	return NULL;
}

/* A chunk that is none of malloc's: the end, or which rule it breaks? */
static const char *
odd_rule(struct mu_glibc_step *step, uintptr_t word)
{
	const struct mu_glibc_rules *rules = step->rules;
	size_t size = word & ~(uintptr_t)MU_SIZE_FLAGS;

	if (rules->main && size == MU_GLIBC_FENCE_SIZE) {
		step->end = mu_glibc_fence_end(
		    rules->limit, rules->view, rules->page_size, step->at);
		step->ended = step->end != 0;
		return step->ended ? NULL : "lone fencepost";
	}
	if ((word & MU_GLIBC_BAD_BITS) != 0 || size < MU_GLIBC_MINSIZE)
		return "impossible size";
	return "size leads out of the heap";
}

static inline void
call_for_lines(const char *from)
{
	uintptr_t at = (uintptr_t)from / LINE * LINE + LINE;

	for (; at % FETCHED != 0; at += LINE)
		__builtin_prefetch((const void *)at);
}

/* The block of the chunk at AT; no branches, as which it is has no pattern. */
static inline void
note(struct mu_glibc_step *step, size_t at, size_t size, uint64_t in_use,
    uint64_t candidate)
{
	mu_span_begin(step->span, (at + MU_GLIBC_HEADER) / MU_GRAIN, in_use,
	    (in_use ^ 1) | candidate);
	step->count += in_use;
	step->bytes += (size - MU_GLIBC_SIZE) & -in_use;
	step->num_free += in_use ^ 1;
	step->num_candidates += candidate;
}

/*
 * What the chunk at AT breaks of what the next one, at NEXT, says of it; SIZE
 * and flags are in WORD.
 */
static inline const char *
wrong_rule(const struct mu_glibc_rules *rules, uintptr_t word, size_t next,
    bool in_use)
{
	size_t size = word & ~(uintptr_t)MU_SIZE_FLAGS;
	uintptr_t wrong;

	wrong = in_use ? (word & MU_NON_MAIN_ARENA) ^ rules->flags
		       : mu_glibc_word(rules->view, next) ^ size;
	if (wrong == 0)
		return NULL;
	return in_use ? "NON_MAIN_ARENA disagrees with the arena"
		      : "free, but prev_size behind it disagrees";
}

/* NULL, or the rule that the chunk at step->at breaks; not at top. */
static inline const char *
step_on(struct mu_glibc_step *step, const struct mu_glibc_rules *rules,
    size_t left, size_t *crowd)
{
	size_t last = rules->end - MU_GLIBC_HEADER, at = step->at, size, next;
	uintptr_t word = mu_glibc_word(rules->view, at + MU_GLIBC_SIZE);
	const char *rule;
	uint64_t in_use;

	size = word & ~(uintptr_t)MU_SIZE_FLAGS;
	next = at + size;
	if (next == left) {
		step->ended = true;
		step->end = rules->end;
		return heap_end_rule(rules, size);
	}
	if ((word & MU_GLIBC_BAD_BITS) != 0 || size < MU_GLIBC_MINSIZE ||
	    size > last - at)
		return odd_rule(step, word);
	in_use =
	    mu_glibc_word(rules->view, next + MU_GLIBC_SIZE) & MU_PREV_INUSE;
	rule = wrong_rule(rules, word, next, in_use);
	if (rule != NULL)
		return rule;
	note(step, at, size, in_use,
	    in_use & (size - rules->tcache <= rules->excess));
	++*crowd;
	if ((((uintptr_t)rules->view + at) ^ ((uintptr_t)rules->view + next)) >=
	    FETCHED) {
		__builtin_prefetch(rules->view + next + AHEAD);
		if (*crowd >= CROWD)
			call_for_lines(rules->view + next);
		*crowd = 0;
	}
	step->at = next;
	return NULL;
}

const char *
mu_glibc_step_until(struct mu_glibc_step *step, size_t stop)
{
	/* Copies of their own: the bits, once set, could be any of it. */
	const struct mu_glibc_rules rules = *step->rules;
	struct mu_glibc_step here = *step;
	struct mu_span span = *step->span;
	size_t left = rules.main || rules.top != MU_GLIBC_NO_TOP
	    ? MU_GLIBC_NO_TOP
	    : rules.end - MU_GLIBC_HEADER;
	const char *rule = NULL;
	size_t crowd = CROWD;

	here.span = &span;
	while (rule == NULL && !here.ended && here.at < stop) {
		if (here.at == rules.top) {
			here.ended = true;
			here.end = rules.end;
			break;
		}
		rule = step_on(&here, &rules, left, &crowd);
	}
	here.span = step->span;
	*step = here;
	return rule;
}
