/*
 * Count how many of a thousand blocks that were lost amid other work are found.
 * Nothing else may be reported, though other blocks are held by references that
 * look like left-over links of malloc. planted.sh compares with other tools.
 *
 * The shares are some percent below the least that was seen on glibc 2.31,
 * 2.36, 2.41 and 2.43, and above what is seen without
 * heapwalk/heaps/glibc/old_links.c where it matters.
 */
#include "tests/support/live.h"
#include "tests/support/pass/planting.h"
#include "tests/support/suite.h"

static const struct {
	const char *flavour;
	size_t least;
} shares[] = {
	{ "written", 970 },
	{ "unwritten", 755 },
	{ "half-written", 865 },
	{ "calloc", 990 },
	{ "realloc", 640 },
	{ "any", 970 },
	{ "mixed-sizes", 900 },
	{ "mmapped", 975 },
	{ "threads-written", 970 },
	{ "threads-any", 960 },
	{ "threads-mixed", 920 },
};
#define SHARES (sizeof(shares) / sizeof(*shares))

TEST_LOOP(planted_blocks, 0, SHARES)
{
	const struct planting_flavour *flavour;
	size_t found, others;

	flavour = planting_flavour(shares[_i].flavour);
	ck_assert_ptr_nonnull(flavour);
	planting_begin(flavour, 1);
	scrub();
	ck_assert(planted_count(&found, &others));
	printf("%s: %zu found, %zu others\n", flavour->name, found, others);
	ck_assert_uint_eq(others, 0);
	ck_assert_uint_ge(found, shares[_i].least);
	planting_end(flavour);
}

/*
 * Blocks that are held only by a reference to their last word, in memory that
 * was used before and is not written except for that word.
 */
#define HOLDERS 5000

static void *volatile holders[HOLDERS];

enum holder_shape {
	ONE_ANYWHERE,
	FROM_THE_FRONT, /* some, then room for more */
	TWO_ANYWHERE,
	RECORDS, /* two numbers, two references, and so on */
	HOLDER_SHAPES,
};

LIVE void *
make_tail(struct planter *planter)
{
	/* As malloc_usable_size() returns it. */
	size_t size = 24 + 16 * planting_random(planter, 6);
	char *block = malloc(size);

	planting_write((unsigned char *)block, size);
	return block + size - sizeof(void *);
}

LIVE void *
make_holder(struct planter *planter, enum holder_shape shape)
{
	size_t words = 1 + planting_random(planter, 64), count, at = 0, i;
	uintptr_t *holder;

	if (shape == FROM_THE_FRONT || shape == RECORDS)
		words = 1 + words / 8;
	count = shape == ONE_ANYWHERE ? 1 : shape == TWO_ANYWHERE ? 2 : words;
	if (shape == FROM_THE_FRONT)
		count = 1 + planting_random(planter, words);
	if (count > words)
		count = words;
	holder = malloc(words * sizeof(*holder));
	if (shape == ONE_ANYWHERE || shape == TWO_ANYWHERE)
		at = planting_random(planter, words - count + 1);
	for (i = at; i < at + count; i++) {
		if (shape == RECORDS && i % 4 < 2)
			holder[i] = planting_random(planter, 200);
		else
			holder[i] = (uintptr_t)make_tail(planter);
	}
	return holder;
}

LIVE void
free_some(struct planter *planter)
{
	size_t i;

	for (i = planter->count / 2; i > 0; i--)
		planting_remove(planter);
}

TEST_LOOP(references_to_last_words, 0, 3 * HOLDER_SHAPES)
{
	static const char *const flavours[] = { "unwritten", "any",
		"mixed-sizes" };
	struct planter *planter = &planters[0];
	size_t i;

	planter->flavour = planting_flavour(flavours[_i / HOLDER_SHAPES]);
	planter->random = 88172645463325252u;
	for (i = 0; i < planter->flavour->rounds / 2; i++)
		planting_round(planter);
	free_some(planter);
	for (i = 0; i < HOLDERS; i++) {
		holders[i] = make_holder(
		    planter, (enum holder_shape)(_i % HOLDER_SHAPES));
		if (i % 4 == 0)
			planting_round(planter);
	}
	EXPECT_LEAKS(0);
}
