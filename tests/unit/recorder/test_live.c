/*
 * The shadow of live blocks, against a model: lib/malloc_debug/shadow/live.h.
 */
#include "lib/malloc_debug/shadow/live.h"
#include "lib/malloc_debug/state/state.h"
#include "tests/support/suite.h"

#define WORD(stack) mu_shadow_word(stack, MU_BLOCK_NEW)
#define SPAN ((uintptr_t)1 << MU_SHADOW_SPAN_SHIFT)

static void
setup(void)
{
	ck_assert(live_init(false));
}

static const void *
at(uintptr_t address)
{
	return (const void *)address;
}

CASE(first, setup, NULL);

TEST(test_md27_put_find_take)
{
	const void *block = at(0x7f1234567890);

	ck_assert_uint_eq(live_word(block), 0);
	ck_assert(live_put(block, 100, WORD(77)));
	ck_assert_uint_eq(mu_shadow_stack(live_word(block)), 77);
	ck_assert_uint_eq(mu_shadow_kind(live_word(block)), MU_BLOCK_NEW);
	ck_assert_uint_eq(live_size(block), 100);
	/* Its other word is no block. */
	ck_assert_uint_eq(live_word(at(0x7f12345678a0)), 0);
	ck_assert(live_put(block, 33, WORD(78)));
	ck_assert_uint_eq(live_size(block), 33);
	ck_assert_uint_eq(live_take(block), WORD(78));
	ck_assert_uint_eq(live_word(block), 0);
	ck_assert_uint_eq(live_take(block), 0);
	ck_assert(!live_take_plain(block));
}

static const size_t sizes[] = { 1, 2, 16, 100, 0x3fffffff, 0x40000000,
	0x40000001, (size_t)5 << 30, ((size_t)1 << 47) + 12345,
	((size_t)1 << 60) - 1 };

/* No limit of 2 GiB; and every place about the border of two spans. */
TEST(test_md16_sizes_and_borders)
{
	uintptr_t address;
	size_t i;

	for (address = 0x600000000000 + SPAN - 96;
	     address < 0x600000000000 + SPAN + 64; address += 16) {
		for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
			ck_assert(live_put(at(address), sizes[i], WORD(9)));
			ck_assert_uint_eq(live_size(at(address)), sizes[i]);
			ck_assert_uint_eq(live_word(at(address)), WORD(9));
			ck_assert_uint_eq(live_take(at(address)), WORD(9));
			ck_assert_uint_eq(*live_words(address), 0);
			ck_assert_uint_eq(live_take(at(address)), 0);
		}
	}
}

/* What free() may be given by mistake. */
TEST(test_foreign_pointers)
{
	static const uintptr_t wrong[] = { 0, 1, 8, 16, 0x7f1234567891,
		0x7f1234567898, (uintptr_t)1 << 48, UINTPTR_MAX,
		UINTPTR_MAX - 15, 0xdead000000000010 };
	size_t i;

	ck_assert(live_put(at(0x7f1234567890), 100, WORD(9)));
	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		ck_assert_uint_eq(live_word(at(wrong[i])), 0);
		ck_assert_uint_eq(live_take(at(wrong[i])), 0);
		ck_assert(!live_take_plain(at(wrong[i])));
	}
	ck_assert_uint_eq(live_take(at(0x7f1234567890)), WORD(9));
}

/* The words behind a cleared first word mean nothing. */
TEST(test_take_plain)
{
	const void *block = at(0x7f3234567890);
	const void *next = at(0x7f32345678a0);

	ck_assert(live_put(block, 100, WORD(9)));
	ck_assert(live_take_plain(block));
	ck_assert_uint_eq(live_word(block), 0);
	ck_assert_uint_eq(live_word(next), 0);
	ck_assert(!live_take_plain(next));
	ck_assert(live_put(block, (size_t)1 << 30, WORD(9)));
	ck_assert(live_take_plain(block));
	ck_assert(live_put(next, 7, WORD(10)));
	ck_assert_uint_eq(live_size(next), 7);
	ck_assert_uint_eq(live_take(next), WORD(10));
}

static void
setup_tallied(void)
{
	ck_assert(live_init(true));
}

CASE(tallied, setup_tallied, NULL);

/* Whatever is put, put again and taken: no page with a block is passed by, and
 * none is looked at for ever. */
TEST(test_tallies_are_the_model)
{
	enum { PAGES = 40, PLACES = PAGES * 128 };
	uintptr_t base = 0x600000000000 + SPAN - PAGES / 2 * 4096, begin;
	uintptr_t other = base + (LIVE_TALLIES << 12);
	static bool live[PLACES];
	static unsigned begun[PAGES];
	size_t step, i, page;

	ck_assert(!live_is_near(NULL));
	ck_assert(!live_is_near(at(base)));
	ck_assert(!live_is_near(at(base + 1)));
	ck_assert(!live_is_near(at(UINTPTR_MAX)));
	srandom(8);
	for (step = 0; step < 400000; step++) {
		i = (size_t)random() % PLACES;
		page = i / 128;
		begin = base + i * 32;
		if (random() % 3 == 0 || step > 380000) {
			ck_assert_uint_eq(
			    live_take(at(begin)), live[i] ? WORD(9) : 0);
			begun[page] -= live[i];
			live[i] = false;
		} else if (random() % 4 == 0) {
			ck_assert(live_put(
			    at(begin), 1 + (size_t)random() % 32, WORD(9)));
			begun[page] += !live[i];
			live[i] = true;
		}
		ck_assert_int_eq(live_is_near(at(begin)), begun[page] != 0);
		ck_assert_int_eq(
		    live_is_near(at(begin)), live_is_near(at(other + i * 32)));
	}
	live_stay_near(at(base + 5000), 8000);
	for (page = 0; page < PAGES; page++)
		ck_assert_int_eq(live_is_near(at(base + page * 4096)),
		    begun[page] != 0 || (page >= 1 && page <= 3));
}

/* More in one tally than it can count: all of its pages stay near. */
TEST(test_tallies_overflow)
{
	uintptr_t base = 0x600000000000, apart = LIVE_TALLIES << 12, i;

	for (i = 0; i < 300; i++)
		ck_assert(live_put(
		    at(base + i % 3 * apart + i / 3 * 32), 10, WORD(9)));
	for (i = 0; i < 300; i++)
		ck_assert_uint_eq(
		    live_take(at(base + i % 3 * apart + i / 3 * 32)), WORD(9));
	ck_assert(live_is_near(at(base)));
	ck_assert(!live_is_near(at(base + 4096)));
}

CASE(live, setup, NULL);

TEST(test_change)
{
	const void *block = at(0x7f2234567890);

	ck_assert(live_put(block, 100, WORD(9)));
	ck_assert(!live_change(block, WORD(10), WORD(11)));
	ck_assert(live_change(block, WORD(9), WORD(9) | MU_SHADOW_FREED));
	ck_assert_uint_eq(live_word(block), WORD(9) | MU_SHADOW_FREED);
	live_take(block);
}

#define MODEL 5000

struct model {
	size_t sizes[MODEL];
	size_t seen, live;
};

/* Blocks of the model are 128 bytes apart, across several spans. */
static uintptr_t
place(size_t i)
{
	return 0x500000000000 + i * (128 + (SPAN / 1000 & ~(size_t)127));
}

static bool
visit(void *ctx, uintptr_t begin, uint32_t word, size_t size)
{
	struct model *model = ctx;
	static uintptr_t last;
	size_t i;

	if (begin < place(0) || begin > place(MODEL - 1))
		return true;
	i = (begin - place(0)) / (place(1) - place(0));
	ck_assert_uint_eq(place(i), begin);
	ck_assert_uint_eq(size, model->sizes[i]);
	ck_assert_uint_eq(mu_shadow_stack(word), i + 8);
	ck_assert(model->seen == 0 || begin > last);
	last = begin;
	model->seen++;
	return true;
}

TEST(test_walk_is_the_model)
{
	static struct model model;
	size_t step, i;

	srandom(7);
	for (step = 0; step < 60000; step++) {
		i = (size_t)random() % MODEL;
		if (model.sizes[i] == 0) {
			model.sizes[i] = 1 +
			    (size_t)random() % 3 *
				((size_t)random() << (random() % 20));
			ck_assert(live_put(at(place(i)), model.sizes[i],
			    WORD((uint32_t)i + 8)));
			model.live++;
		} else {
			if (random() % 2 == 0 || !live_take_plain(at(place(i))))
				ck_assert_uint_eq(live_take(at(place(i))),
				    WORD((uint32_t)i + 8));
			model.sizes[i] = 0;
			model.live--;
		}
	}
	live_each(visit, &model);
	ck_assert_uint_eq(model.seen, model.live);
	ck_assert_uint_le(memunreachable_recorded.lowest, place(0));
	ck_assert_uint_ge(memunreachable_recorded.highest, place(MODEL - 1));
}

static void *
others(void *argument)
{
	uintptr_t base = (uintptr_t)argument;
	size_t i;

	for (i = 0; i < 300000; i++) {
		const void *block = at(base + (i * 48 * 7919) % (64 * SPAN));

		/* Each thread has its own address in every 256 bytes. */
		block = at(((uintptr_t)block & ~(uintptr_t)255) + base % 256);
		if (!live_put(block, i % 1000 + 1, WORD(8)) ||
		    live_size(block) != i % 1000 + 1 || live_take(block) == 0)
			return argument;
	}
	return NULL;
}

TEST(test_threads_make_the_same_spans)
{
	pthread_t threads[4];
	void *bad;
	size_t i;

	for (i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, others,
		    (void *)(0x400000000000 + i * 64));
	for (i = 0; i < 4; i++) {
		pthread_join(threads[i], &bad);
		ck_assert_ptr_null(bad);
	}
}

/* A pass searches page by page for what describes the recorder's tables. */
TEST(description_lies_in_one_page)
{
	uintptr_t at = (uintptr_t)&memunreachable_recorded;

	ck_assert_uint_eq(
	    at / 4096, (at + sizeof(memunreachable_recorded) - 1) / 4096);
	ck_assert_uint_ge(at & -at, sizeof(memunreachable_recorded));
}
