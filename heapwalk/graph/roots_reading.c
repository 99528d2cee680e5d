#include "heapwalk/graph/roots_reading.h"

#include <string.h>

#include "heapwalk/graph/reader.h"
#include "heapwalk/graph/references.h"
#include "mu/arch/words.h"
#include "mu/sys.h"

#define WORD sizeof(uintptr_t)
#define HALVES_MOST 256 /* operands that are looked at */
#define LOCK_SPINS 100  /* after that, the holder may be waiting for a CPU */

/*
 * A part of a root. The first part also reads the words across the root's
 * start.
 */
struct piece {
	struct mu_range range;
	size_t root; /* index of its range, or of a listed block behind those */
	bool first;
};

static size_t
num_ranges(const struct mu_roots_reading *reading)
{
	return reading->roots != NULL ? reading->roots->num_ranges : 0;
}

/*
 * Generated code is not executable while it is written, by mprotect() of its
 * page or of all of it.
 */
static bool
may_be_code(const struct mu_root *root)
{
	return root->code || root->kind == MU_ROOT_ANONYMOUS ||
	    root->kind == MU_ROOT_GLOBALS;
}

/*
 * Below 4 GiB an instruction has half a word as operand. Any data has such
 * bytes, but where most of them are not addresses at which blocks begin, it is
 * no code.
 */
static bool
loads_half(const struct mu_blocks *blocks, const char *view, size_t size)
{
	uint32_t half, last = UINT32_MAX;
	size_t at = 0, inside = 0, begins = 0;
	struct mu_block block;

	if (blocks->envelope.begin > UINT32_MAX)
		return false;
	if (blocks->envelope.end <= UINT32_MAX)
		last = (uint32_t)blocks->envelope.end - 1;
	while (inside < HALVES_MOST) {
		at = mu_arch_short_operand(view, size, at,
		    (unsigned char)(blocks->envelope.begin >> 24),
		    (unsigned char)(last >> 24));
		if (at + sizeof(half) > size)
			break;
		memcpy(&half, view + at, sizeof(half));
		if (!mu_range_has(blocks->envelope, half))
			continue;
		inside++;
		begins += mu_blocks_find(blocks, half, &block) &&
		    block.range.begin == half;
	}
	return inside > 0 && begins * 2 >= inside;
}

/* True if an instruction in the SIZE bytes at VIEW loads an address of a block.
 */
static bool
loads_block(const struct mu_blocks *blocks, const char *view, size_t size)
{
	uintptr_t word;
	size_t at = 0;

	if (loads_half(blocks, view, size))
		return true;
	for (;;) {
		at = mu_arch_operand(view, size, at);
		if (at + WORD > size)
			return false;
		memcpy(&word, view + at, WORD);
		if (mu_range_has(
			blocks->envelope, mu_reference_untag(blocks, word)))
			return true;
	}
}

static void
open_range(struct mu_roots_reading *reading, size_t i)
{
	const struct mu_root *root = &reading->roots->ranges[i];

	/* An instruction has two bytes before such an operand. */
	mu_parts_open(&reading->parts, reading->memory, root->range,
	    may_be_code(root)
		? WORD + 1
		: WORD - mu_reference_step(reading->blocks, false));
}

static void
open_kept(struct mu_roots_reading *reading, const struct mu_listed *listed)
{
	bool code = mu_reference_in_code(reading->blocks, listed->range);

	mu_parts_open(&reading->parts, reading->memory, listed->range,
	    WORD - mu_reference_step(reading->blocks, code));
}

/* Open the next root; false if there is none. */
static bool
next_root(struct mu_roots_reading *reading)
{
	size_t i, ranges = num_ranges(reading);

	for (;;) {
		i = reading->next;
		if (i >= ranges + reading->blocks->num_listed)
			return false;
		reading->next++;
		if (i < ranges) {
			open_range(reading, i);
			return true;
		}
		if (reading->blocks->listed[i - ranges].keep) {
			open_kept(
			    reading, &reading->blocks->listed[i - ranges]);
			return true;
		}
	}
}

/*
 * Called with the lock held. Returns false if only the single words are left,
 * or nothing.
 */
static bool
next_piece(struct mu_roots_reading *reading, struct piece *piece)
{
	piece->first = false;
	while (reading->next == 0 ||
	    !mu_parts_next(&reading->parts, &piece->range)) {
		if (!next_root(reading))
			return false;
		piece->first = true;
	}
	piece->root = reading->next - 1;
	return true;
}

static bool
is_everywhere(const struct mu_reader *reader, const struct mu_root *root)
{
	return may_be_code(root) || reader->blocks->words.unaligned;
}

/* Read the words that begin in LEFT and end in RIGHT, which is adjacent. */
static void
read_seam(struct mu_reader *reader, const struct mu_root *left,
    const struct mu_root *right)
{
	char seam[2 * (WORD - 1)];
	size_t before = mu_range_size(left->range), after;
	struct mu_range range;

	after = mu_range_size(right->range);
	if (before > WORD - 1)
		before = WORD - 1;
	if (after > WORD - 1)
		after = WORD - 1;
	memcpy(seam, left->view + mu_range_size(left->range) - before, before);
	memcpy(seam + before, right->view, after);
	range.begin = left->range.end - before;
	range.end = left->range.end + after;
	mu_reader_words(reader, MU_NO_NODE, seam, range, MU_WORDS_CODE);
	/* SEAM ends here; the reader has copies of its values. */
}

static void
read_piece(const struct mu_roots_reading *reading, struct mu_reader *reader,
    struct mu_read_buffer *buffer, const struct piece *piece)
{
	const struct mu_listed *listed;
	struct mu_range range = piece->range;
	struct mu_root *root;
	const char *view;
	bool code;

	if (piece->root >= num_ranges(reading)) {
		listed =
		    &reading->blocks->listed[piece->root - num_ranges(reading)];
		mu_reader_words(reader, MU_NO_NODE,
		    mu_read_buffer_fill(buffer, range,
			listed->view + (range.begin - listed->range.begin)),
		    range,
		    mu_reference_in_code(reading->blocks, listed->range)
			? MU_WORDS_CODE
			: MU_WORDS_ROOT);
		return;
	}
	root = &reading->roots->ranges[piece->root];
	view = mu_read_buffer_fill(
	    buffer, range, root->view + (range.begin - root->range.begin));
	code = root->code;
	if (!code && may_be_code(root) &&
	    loads_block(reading->blocks, view, mu_range_size(range))) {
		/* Each piece by itself, whatever order workers take them in. */
		code = true;
		__atomic_store_n(&root->loads, true, __ATOMIC_RELAXED);
	}
	mu_reader_words(reader, MU_NO_NODE, view, range,
	    code ? MU_WORDS_CODE : MU_WORDS_ROOT);
	if (piece->first && piece->root > 0 &&
	    root[-1].range.end == root->range.begin &&
	    is_everywhere(reader, root) && is_everywhere(reader, root - 1))
		read_seam(reader, root - 1, root);
}

static void
read_values(const struct mu_roots *roots, struct mu_reader *reader)
{
	const uintptr_t *values = roots->values;
	struct mu_block block;
	uintptr_t word;
	size_t i, shift;

	for (i = 0; i < roots->num_headers; i++)
		if (mu_reference_by_header(
			reader->blocks, roots->headers[i], &block))
			mu_reader_value(reader, MU_NO_NODE, block.range.begin);
	for (i = 0; i < roots->num_values; i++) {
		mu_reader_value(reader, MU_NO_NODE, values[i]);
		/*
		 * Vector registers are rows of bytes, so a pointer may cross
		 * two values.
		 */
		for (shift = 1; reader->blocks->words.unaligned &&
		     i + 1 < roots->num_values && shift < WORD;
		     shift++) {
			memcpy(&word, (const char *)&values[i] + shift, WORD);
			mu_reader_value(reader, MU_NO_NODE, word);
		}
	}
}

static void
enter(struct mu_roots_reading *reading)
{
	unsigned spins = 0;

	while (__atomic_exchange_n(&reading->lock, 1, __ATOMIC_ACQUIRE) != 0) {
		while (__atomic_load_n(&reading->lock, __ATOMIC_RELAXED) != 0) {
			if (++spins % LOCK_SPINS == 0)
				mu_sys0(SYS_sched_yield);
			mu_arch_relax();
		}
	}
}

void
mu_roots_reading_open(struct mu_roots_reading *reading,
    const struct mu_roots *roots, const struct mu_blocks *blocks,
    struct mu_memory *memory)
{
	*reading = (struct mu_roots_reading) {
		.roots = roots, .blocks = blocks, .memory = memory
	};
}

bool
mu_roots_read(struct mu_roots_reading *reading, struct mu_reader *reader,
    struct mu_read_buffer *buffer, struct mu_deadline *deadline)
{
	bool values = false, some;
	struct piece piece;

	enter(reading);
	some = !reading->ended && next_piece(reading, &piece);
	values = !some && !reading->ended;
	reading->ended = !some;
	__atomic_store_n(&reading->lock, 0, __ATOMIC_RELEASE);
	if (some) {
		read_piece(reading, reader, buffer, &piece);
		mu_deadline_passed(
		    deadline, mu_range_size(piece.range) / WORD + 8);
	} else if (values && reading->roots != NULL) {
		read_values(reading->roots, reader);
	}
	return some;
}
