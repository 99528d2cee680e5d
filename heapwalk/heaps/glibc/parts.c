#include "heapwalk/heaps/glibc/parts.h"

#include <string.h>

#include "heapwalk/heaps/spans.h"
#include "heapwalk/subject/workers.h"

/* Bytes of heap per bitmap word. */
#define WORD_BYTES ((size_t)MU_GRAIN * MU_WORD_BITS)

/* Bytes per word of summary bits: parts share no bitmap or summary word. */
#define SUMMARY_BYTES (WORD_BYTES * MU_WORD_BITS)
#define PART_BYTES (16 * SUMMARY_BYTES)

#define GUESS_BYTES SUMMARY_BYTES /* where a first chunk is searched */
#define GUESS_CHUNKS 64           /* chunks that must follow each other */
#define NO_GUESS SIZE_MAX

/* Bytes [begin, stop) of a chain, with the chunks that begin there. */
struct mu_glibc_part {
	const struct mu_glibc_chain *chain;
	size_t begin, stop;
	size_t first; /* guessed first chunk, or NO_GUESS if there is none */
	struct mu_glibc_step step; /* state at the end of the part */
};

void
mu_glibc_parts_open(struct mu_glibc_parts *parts)
{
	*parts = (struct mu_glibc_parts) { 0 };
}

/* If there is no memory for parts, the chain is walked as one. */
void
mu_glibc_parts_add(struct mu_glibc_parts *parts, struct mu_glibc_walk *walk,
    const struct mu_glibc_chain *chain)
{
	size_t size = chain->end - chain->limit.begin, i;
	size_t count = size / PART_BYTES + 1, max = parts->count + count;
	struct mu_glibc_part *part;

	if (mu_workers_count(walk->snap->workers) == 1)
		return;
	if (max > parts->max) {
		max += parts->max;
		part = mu_arena_grow(
		    walk->memory, parts->parts, parts->max, max, sizeof(*part));
		if (part == NULL)
			return;
		parts->parts = part;
		parts->max = max;
	}
	part = &parts->parts[parts->count];
	for (i = 0; i < count; i++, part++)
		/* Divide by the block's address, which determines the bit. */
		*part = (struct mu_glibc_part) {
			.chain = chain,
			.begin = i == 0 ? 0 : i * PART_BYTES - MU_GLIBC_HEADER,
			.stop = i + 1 == count
			    ? SIZE_MAX
			    : (i + 1) * PART_BYTES - MU_GLIBC_HEADER,
			.first = NO_GUESS,
		};
	parts->count += count;
}

/* The size of the chunk at AT under RULES, or 0. */
static size_t
good_size(const struct mu_glibc_rules *rules, size_t at)
{
	uintptr_t word =
	    mu_glibc_word(mu_glibc_header_at(rules, at), MU_GLIBC_SIZE);
	size_t size = word & ~(uintptr_t)MU_SIZE_FLAGS;
	const char *next;

	if ((word & MU_GLIBC_BAD_BITS) != 0 || size < MU_GLIBC_MINSIZE ||
	    size > rules->end - at - MU_GLIBC_HEADER)
		return 0;
	next = mu_glibc_header_at(rules, at + size);
	if ((mu_glibc_word(next, MU_GLIBC_SIZE) & MU_PREV_INUSE) != 0)
		return (word & MU_NON_MAIN_ARENA) == rules->flags ? size : 0;
	return mu_glibc_word(next, 0) == size ? size : 0;
}

/* True if chunks follow each other from AT up to STOP. */
static bool
leads_on(const struct mu_glibc_rules *rules, size_t at, size_t stop)
{
	size_t size, i;

	for (i = 0; i < GUESS_CHUNKS && at < stop && at != rules->top; i++) {
		size = good_size(rules, at);
		if (size == 0)
			return false;
		at += size;
	}
	return true;
}

static size_t
guess_first(const struct mu_glibc_rules *rules, size_t begin, size_t stop)
{
	size_t at, end = begin + GUESS_BYTES;

	if (end > rules->end - MU_GLIBC_HEADER)
		end = rules->end - MU_GLIBC_HEADER;
	for (at = begin; at < end; at += MU_GRAIN)
		if (leads_on(rules, at, stop))
			return at;
	return NO_GUESS;
}

/* Undo the walk of PART. */
static void
wipe(struct mu_glibc_part *part, const struct mu_glibc_rules *rules)
{
	size_t bytes =
	    (part->begin + MU_GLIBC_HEADER) / PART_BYTES * PART_BYTES;
	size_t end = bytes + PART_BYTES;
	struct mu_span *span = part->step.span;
	size_t word = bytes / WORD_BYTES;

	if (part->first == NO_GUESS)
		return;
	part->first = NO_GUESS;
	if (end > rules->end)
		end = rules->end;
	memset(mu_span_starts(span, word), 0,
	    ((end - bytes + WORD_BYTES - 1) / WORD_BYTES) * 2 *
		sizeof(uint64_t));
	memset(&span->bounds[word], 0,
	    ((end - bytes + WORD_BYTES - 1) / WORD_BYTES) * sizeof(uint64_t));
	for (; word < (end + WORD_BYTES - 1) / WORD_BYTES; word += MU_WORD_BITS)
		span->summary[word / MU_WORD_BITS] = 0;
}

static void
walk_part(const struct mu_glibc_walk *walk, struct mu_glibc_part *part,
    struct mu_read_buffer *buffer)
{
	struct mu_glibc_rules rules;
	struct mu_glibc_near near;

	mu_glibc_rules_open(&rules, walk, part->chain, &near, buffer);
	if (near.end == 0)
		near =
		    mu_glibc_near_fill(buffer, &rules, part->begin, part->stop);
	part->first =
	    part->begin == 0 ? 0 : guess_first(&rules, part->begin, part->stop);
	if (part->first == NO_GUESS)
		return;
	part->step = (struct mu_glibc_step) {
		.rules = &rules,
		.span = &walk->heap->blocks.spans[part->chain->span],
		.at = part->first,
	};
	if (mu_glibc_step_until(&part->step, part->stop) != NULL)
		wipe(part, &rules);
}

static void
walk_some(void *ctx, unsigned worker)
{
	struct mu_glibc_parts *parts = ctx;
	struct mu_read_buffer buffer;
	size_t i;

	(void)worker;
	mu_read_buffer_open(
	    &buffer, (struct mu_memory *)&parts->walk->snap->memory);
	for (;;) {
		i = __atomic_fetch_add(&parts->next, 1, __ATOMIC_RELAXED);
		if (i >= parts->count)
			break;
		walk_part(parts->walk, &parts->parts[i], &buffer);
	}
	mu_read_buffer_close(&buffer);
}

void
mu_glibc_parts_walk(
    struct mu_glibc_parts *parts, const struct mu_glibc_walk *walk)
{
	parts->walk = walk;
	if (parts->count > 0)
		mu_workers_run(walk->snap->workers,
		    parts->count < MU_WORKERS_MAX ? (unsigned)parts->count
						  : MU_WORKERS_MAX,
		    walk_some, parts);
}

/*
 * Where the chain from AT meets that of PART, in PART; NO_GUESS if it does not.
 * A guess inside of a block mostly leads to a true chunk, but not always to the
 * first. If its last chunk leads into the next part, so would the walk up to
 * the meeting, whose notes there that part would undo.
 */
static size_t
meeting(const struct mu_glibc_part *part, const struct mu_glibc_rules *rules,
    size_t at)
{
	size_t other = part->first, *behind, size;

	while (at != other) {
		behind = at < other ? &at : &other;
		size = *behind < part->step.at ? good_size(rules, *behind) : 0;
		if (size == 0)
			return NO_GUESS;
		*behind += size;
	}
	return at < part->stop ? at : NO_GUESS;
}

/* Undo what the walk of PART did before AT. */
static void
unwind(
    struct mu_glibc_part *part, const struct mu_glibc_rules *rules, size_t at)
{
	struct mu_glibc_step *step = &part->step;
	uint64_t starts, marks, mask;
	size_t size, bit, word;

	for (; part->first < at; part->first += size) {
		size = mu_glibc_word(rules->view, part->first + MU_GLIBC_SIZE) &
		    ~(uintptr_t)MU_SIZE_FLAGS;
		bit = (part->first + MU_GLIBC_HEADER) / MU_GRAIN;
		word = bit / MU_WORD_BITS;
		mask = 1ull << (bit % MU_WORD_BITS);
		starts = *mu_span_starts(step->span, word);
		marks = *mu_span_marks(step->span, word);
		step->num_candidates -= (starts & marks & mask) != 0;
		step->num_free -= (starts & mask) == 0;
		step->count -= (starts & mask) != 0;
		step->bytes -= (starts & mask) != 0 ? size - MU_GLIBC_SIZE : 0;
		mu_span_unset(step->span, bit);
	}
}

/* Continue STEP over PART, the next part of its walk. */
static const char *
join(struct mu_glibc_part *part, struct mu_glibc_step *step)
{
	const struct mu_glibc_step *more = &part->step;
	bool passed = step->ended || step->at >= part->stop;
	const char *rule;
	size_t at;

	at = passed || part->first == NO_GUESS
	    ? NO_GUESS
	    : meeting(part, step->rules, step->at);
	if (at == NO_GUESS) {
		wipe(part, step->rules);
		return passed ? NULL : mu_glibc_step_until(step, part->stop);
	}
	unwind(part, step->rules, at);
	rule = mu_glibc_step_until(step, at);
	if (rule != NULL)
		return rule;
	step->at = more->at;
	step->ended = more->ended;
	step->end = more->end;
	step->count += more->count;
	step->bytes += more->bytes;
	step->num_free += more->num_free;
	step->num_candidates += more->num_candidates;
	return NULL;
}

const char *
mu_glibc_parts_join(struct mu_glibc_parts *parts,
    const struct mu_glibc_chain *chain, struct mu_glibc_step *step)
{
	const char *rule = NULL;

	if (parts->joined == parts->count ||
	    parts->parts[parts->joined].chain != chain)
		return mu_glibc_step_until(step, SIZE_MAX);
	while (rule == NULL && parts->joined < parts->count &&
	    parts->parts[parts->joined].chain == chain)
		rule = join(&parts->parts[parts->joined++], step);
	return rule;
}
