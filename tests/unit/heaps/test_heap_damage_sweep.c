/*
 * Copy a real heap and change a word anywhere in malloc's data, thousands of
 * times: one bit, or to a meaningful value. The heap must be refused, or
 * exactly the same blocks listed, or the doubtful ones not reported. No crash,
 * no endless loop, no block that does not exist.
 *
 * The exceptions are changes that no second word in the heap contradicts, so
 * that the result is a heap as malloc could have made it:
 * - a size that leads to where another chunk begins, or to what looks like one
 *   in the contents of a block: the chunks between are swallowed, or a block is
 *   cut in two;
 * - a link of a fastbin, or a head, that leaves out the rest of the list: a
 *   chunk there does not bear any mark. The rest is taken for live;
 * - the header of an aligned mmapped chunk: the one at the start of its mapping
 *   is that of a block that was not aligned. (Not among the places here.)
 * They are told apart by what the list of blocks lost or won, not by what was
 * changed: everything else fails.
 */
#include "tests/support/heaps/heap_busy.h"
#include "tests/support/suite.h"

#define SINGLE_BITS 5000
#define SINGLE_WORDS 5000

struct place {
	struct mu_range range; /* words that are changed */
	const char *name;
};

static struct place places[400];
static size_t num_places;
static size_t refused, same, kept, excused;

static void
add_place(uintptr_t begin, size_t size, const char *name)
{
	ck_assert_uint_lt(num_places, sizeof(places) / sizeof(*places));
	places[num_places++] = (struct place) { { begin, begin + size }, name };
}

/* Every chunk's header, and the links behind it if it is free. */
static void
add_chunks(size_t arena)
{
	const struct mu_glibc_layout *layout = busy.glibc.layout;
	uintptr_t top = *arena_at(arena, layout->arena_top);
	uintptr_t chunk = arena == 0
	    ? *par_at(layout->par_sbrk_base)
	    : (busy.glibc.arenas[arena] + layout->arena_size + 15) &
		~(uintptr_t)15;
	bool listed;

	for (; chunk < top && num_places < 390;
	     chunk += *busy_word_at(chunk + 8) & ~(uintptr_t)MU_SIZE_FLAGS) {
		listed = heap_reading_find(&busy.whole, chunk + 16) >= 0;
		add_place(chunk, listed ? 16 : 32, "chunk");
	}
	add_place(top, 16, "top");
}

static void
add_all(void)
{
	const struct mu_glibc_layout *layout = busy.glibc.layout;
	size_t i;

	for (i = 0; i < busy.glibc.num_arenas; i++) {
		add_place(busy.glibc.arenas[i], layout->arena_size, "arena");
		if (i > 0)
			add_place(heap_of(i), layout->heap_header, "heap_info");
	}
	add_place(busy.glibc.mp, layout->par_size, "mp_");
	for (i = 0; i < BUSY_MMAPPED - 1; i++)
		add_place(chunk_of(busy.mmapped[i]), 16, "mmapped");
	for (i = 0; i < busy.glibc.num_arenas; i++)
		add_chunks(i);
}

/* ---- what is allowed ---- */

static bool
is_within(const struct heap_reading *reading, struct mu_range block)
{
	size_t i;

	for (i = 0; i < reading->count; i++)
		if (reading->blocks[i].begin <= block.begin &&
		    reading->blocks[i].end >= block.end)
			return true;
	return false;
}

/* A chunk of a fastbin of the undamaged heap? */
static bool
was_in_fastbin(uintptr_t block)
{
	const struct busy_part *part = busy.parts;
	size_t i;

	if (busy.glibc.layout->arena_fastbins == 0)
		return false;

	for (; part <= &busy.parts[BUSY_THREADS]; part++) {
		for (i = 0; i < BUSY_FAST; i++)
			if (part->fast[i] == block)
				return true;
		for (i = 0; i < BUSY_TCACHE_MAX; i++)
			if (part->fill[i] == block)
				return true;
	}
	return false;
}

/* Could have been that way: see the opening comment. */
static bool
is_no_contradiction(const struct heap_reading *reading, uintptr_t changed)
{
	size_t i, fast = 0, cut = 0, resized = 0;
	struct mu_range block;
	ssize_t old;

	for (i = 0; i < reading->count; i++) {
		block = reading->blocks[i];
		old = heap_reading_find(&busy.whole, block.begin);
		if (old >= 0)
			resized += block.end != busy.whole.blocks[old].end;
		else if (was_in_fastbin(block.begin))
			fast++;
		else if (is_within(&busy.whole, block))
			cut++;
		else
			return false;
	}
	if (resized == 0)
		return fast > 0 && cut == 0;
	return resized == 1 && fast == 0 && changed % 16 == 8;
}

/* ---- the sweep ---- */

static unsigned seed;

static uintptr_t
meaningful(void)
{
	const uintptr_t values[] = { 0, 1, 2, 3, 0x10, 0x11, 0x20, 0x21, 0x25,
		0x31, 0x41, 0x45, 0x411, SIZE_MAX, SIZE_MAX - 15,
		(uintptr_t)1 << 40, busy.glibc.main_arena, busy.glibc.arenas[1],
		heap_of(1), heap_of(2), chunk_of(busy.parts[0].used[0]),
		busy.parts[0].used[0], chunk_of(busy.parts[0].binned[0]),
		chunk_of(busy.parts[1].binned[1]),
		chunk_of(busy.parts[0].fast[1]), busy.parts[0].cached[1],
		busy.parts[1].cached[1], chunk_of(busy.parts[2].used[1]),
		chunk_of(busy.mmapped[0]) };

	return values[(size_t)rand_r(&seed) %
	    (sizeof(values) / sizeof(*values))];
}

static void
judge(const struct place *place, uintptr_t changed, uintptr_t before,
    uintptr_t after)
{
	struct heap_reading reading;

	heap_image_read(&busy.image, &reading);
	if (reading.status != MU_OK && reading.status != MU_PARTIAL)
		refused++;
	else if (heap_reading_same(&reading, &busy.whole))
		same++;
	else if (reading.status == MU_PARTIAL && reading.num_kept > 0)
		kept++;
	else if (is_no_contradiction(&reading, changed))
		excused++;
	else
		ck_abort_msg("%s +%#lx: %#lx for %#lx: %zu blocks of %zu, %s",
		    place->name, (long)(changed - place->range.begin),
		    (long)after, (long)before, reading.count, busy.whole.count,
		    mu_status_name(reading.status));
	heap_reading_close(&reading);
}

static void
sweep(size_t times, bool bits)
{
	const struct place *place;
	uintptr_t at, *word, old;
	size_t i;

	add_all();
	for (i = 0; i < times; i++) {
		place = &places[(size_t)rand_r(&seed) % num_places];
		at = place->range.begin +
		    ((size_t)rand_r(&seed) % mu_range_size(place->range) &
			~(size_t)7);
		word = busy_word_at(at);
		old = *word;
		*word = bits ? old ^ (uintptr_t)1 << rand_r(&seed) % 64
			     : meaningful();
		judge(place, at, old, *word);
		*word = old;
	}
	expect_same();
	printf(
	    "%zu refused, %zu the same, %zu in doubt, %zu not contradicted\n",
	    refused, same, kept, excused);
	ck_assert_uint_gt(refused, times / 4);
	ck_assert_uint_lt(excused, times / 50);
}

TEST_LOOP(single_bits, 0, 2)
{
	seed = 4711 + (unsigned)_i;
	sweep(SINGLE_BITS, true);
}

TEST_LOOP(single_words, 0, 2)
{
	seed = 4711 + (unsigned)_i;
	sweep(SINGLE_WORDS, false);
}

SUITE(.setup = busy_setup);
