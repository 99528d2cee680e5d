/*
 * lib/types/: the type of a block in memory that is made up here, as the
 * Itanium C++ ABI says, damaged, and random: no input may cause a crash or a
 * hang, and only what is proven is certain.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/types/block_size.h"
#include "lib/types/types.h"
#include "tests/support/suite.h"

#define BASE ((uintptr_t)0x10000000)
#define PAGE ((size_t)4096)
#define SIZE (4 * PAGE)        /* code, constants, data, heap */
#define HEAP (BASE + 3 * PAGE) /* the part that is of no file */
#define WORDS (SIZE / sizeof(uintptr_t))

/* Indexes of words. */
enum {
	CODE = 0,
	CONSTANTS = PAGE / sizeof(uintptr_t),
	VTABLE = CONSTANTS,   /* of shop::Order: top, information, function */
	INFO = VTABLE + 8,    /* of shop::Order */
	SI_VTABLE = INFO + 8, /* of __si_class_type_info */
	SI_INFO = SI_VTABLE + 8,
	NAMES = SI_INFO + 8,
	BLOCK = 3 * PAGE / sizeof(uintptr_t),
};

#define ORDER "N4shop5OrderE"
#define SI "N10__cxxabiv120__si_class_type_infoE"

static uintptr_t words[WORDS];
static struct mu_symbols *symbols;
static void *state;
static uint32_t randomness = 1;

/* The name is GLib's, so that its table is looked for, too. */
static const struct mu_mapping mappings[] = {
	{ .range = { BASE, BASE + PAGE },
	    .readable = true,
	    .executable = true,
	    .inode = 1,
	    .name = "/nowhere/libglib-2.0.so.0" },
	{ .range = { BASE + PAGE, BASE + 2 * PAGE },
	    .readable = true,
	    .offset = PAGE,
	    .inode = 1,
	    .name = "/nowhere/libglib-2.0.so.0" },
	{ .range = { BASE + 2 * PAGE, BASE + 3 * PAGE },
	    .readable = true,
	    .writable = true,
	    .offset = 2 * PAGE,
	    .inode = 1,
	    .name = "/nowhere/libglib-2.0.so.0" },
	{ .range = { HEAP, HEAP + PAGE },
	    .readable = true,
	    .writable = true,
	    .name = "[heap]" },
};

static bool
read_words(void *ctx, uintptr_t address, void *buffer, size_t size)
{
	(void)ctx;
	if (address < BASE || size > SIZE || address - BASE > SIZE - size)
		return false;
	memcpy(buffer, (char *)words + (address - BASE), size);
	return true;
}

static uintptr_t
at(size_t index)
{
	return BASE + index * sizeof(*words);
}

static void
open_symbols(void)
{
	const struct mu_symbols_source source = {
		.mappings = mappings,
		.num_mappings = sizeof(mappings) / sizeof(*mappings),
		.read = read_words,
		.local = true,
	};

	mu_symbols_close(symbols);
	symbols = mu_symbols_open(&source);
	ck_assert_ptr_nonnull(symbols);
	free(state);
	state = NULL;
}

/* An object of shop::Order at the begin of the heap. */
static void
make_object(void)
{
	memset(words, 0, sizeof(words));
	words[VTABLE + 1] = at(INFO);
	words[VTABLE + 2] = at(CODE);
	words[INFO] = at(SI_VTABLE + 2);
	words[INFO + 1] = at(NAMES);
	words[SI_VTABLE + 1] = at(SI_INFO);
	words[SI_INFO] = at(SI_VTABLE + 2);
	words[SI_INFO + 1] = at(NAMES + 8);
	memcpy(&words[NAMES], ORDER, sizeof(ORDER));
	memcpy(&words[NAMES + 8], SI, sizeof(SI));
	words[BLOCK] = at(VTABLE + 2);
	words[BLOCK + 1] = 42;
}

static bool
ask(uintptr_t begin, size_t size, struct mu_type *type)
{
	struct mu_typed_block block = { .begin = begin, .size = size };

	return mu_types_answer(&state, symbols, &block, type);
}

static void
set_up(void)
{
	make_object();
	open_symbols();
}

static void
tear_down(void)
{
	mu_symbols_close(symbols);
	symbols = NULL;
	free(state);
	state = NULL;
}

TEST(by_type_information)
{
	struct mu_type type;

	ck_assert(ask(HEAP, 40, &type));
	ck_assert_str_eq(type.name, "shop::Order");
	ck_assert_int_eq(type.source, MU_TYPE_RTTI);
	/*
	 * Without debug information nothing says that the block has the type's
	 * size.
	 */
	ck_assert(!type.certain);
	ck_assert_uint_eq(type.offset, 0);
}

/* An object inside a block is not the block. */
TEST(inside)
{
	struct mu_type type;

	words[BLOCK + 2] = words[BLOCK];
	words[BLOCK] = words[BLOCK + 1] = 7;
	ck_assert(ask(HEAP, 40, &type));
	ck_assert_str_eq(type.name, "shop::Order");
	ck_assert(!type.certain);
	ck_assert_uint_eq(type.offset, 16);
	/* A vptr of a base that is 16 bytes inside the whole object. */
	words[VTABLE] = -(uintptr_t)16;
	open_symbols();
	ck_assert(ask(HEAP, 40, &type));
	ck_assert(!type.certain);
	ck_assert_uint_eq(type.offset, 0);
	/* The object would begin before the block. */
	words[VTABLE] = -(uintptr_t)24;
	open_symbols();
	ck_assert(!ask(HEAP, 40, &type) || type.source == MU_TYPE_CONTENT);
}

TEST(changed_meanwhile)
{
	struct mu_typed_block block = { .begin = HEAP, .size = 40 };
	struct mu_type type;

	memcpy(block.head, &words[BLOCK], sizeof(block.head));
	block.num_head = sizeof(block.head);
	ck_assert(mu_types_answer(&state, symbols, &block, &type));
	words[BLOCK + 1]++;
	ck_assert(!mu_types_answer(&state, symbols, &block, &type));
	ck_assert_ptr_null(type.name);
}

/* What makes the proof is changed, word by word, to values of all kinds. */
TEST(no_proof)
{
	static const size_t needed[] = { VTABLE, VTABLE + 1, VTABLE + 2, INFO,
		INFO + 1, SI_VTABLE + 1, SI_INFO, SI_INFO + 1 };
	const uintptr_t values[] = { 1, at(CODE) + 4, at(BLOCK), at(INFO),
		at(VTABLE), at(NAMES) + 1, BASE + SIZE, BASE + SIZE - 8,
		(uintptr_t)1 << 63, UINTPTR_MAX, HEAP + PAGE - 8 };
	struct mu_type type;
	uintptr_t before;
	size_t i, j;

	for (i = 0; i < sizeof(needed) / sizeof(*needed); i++) {
		for (j = 0; j < sizeof(values) / sizeof(*values); j++) {
			before = words[needed[i]];
			if (values[j] == before)
				continue;
			words[needed[i]] = values[j];
			open_symbols();
			/* Any address in code may be that of a function. */
			if (ask(HEAP, 40, &type) && type.certain)
				ck_assert_uint_eq(needed[i], VTABLE + 2);
			words[needed[i]] = before;
		}
	}
}

TEST(no_name)
{
	static const char *const names[] = { "", "*", "4", "9Order", "shop",
		"\033]0;evil\a", "N4shop5Order", "5Order\x80", "St" };
	struct mu_type type;
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(*names); i++) {
		memset(&words[NAMES], 0, 64);
		memcpy(&words[NAMES], names[i], strlen(names[i]));
		open_symbols();
		if (ask(HEAP, 40, &type) && type.certain)
			ck_abort_msg("%s is %s", names[i], type.name);
	}
	/* Without an end. */
	memset(&words[NAMES], 'a', SIZE - NAMES * sizeof(*words));
	words[BLOCK] = at(VTABLE + 2);
	open_symbols();
	ck_assert(!ask(HEAP, 40, &type) || !type.certain);
}

static uint32_t
draw(uint32_t below)
{
	randomness = randomness * 1664525 + 1013904223;
	return (randomness >> 8) % below;
}

static uintptr_t
draw_word(void)
{
	switch (draw(6)) {
	case 0:
		return 0;
	case 1:
		return draw(64);
	case 2:
		return 0x6261206465666768u;
	case 3:
		return (uintptr_t) - (intptr_t)draw(64);
	default:
		return at(draw(WORDS)) + (draw(8) == 0 ? draw(8) : 0);
	}
}

TEST_LOOP(random_memory, 0, 20)
{
	static const size_t sizes[] = { 1, 7, 24, 40, 200, PAGE, 2 * PAGE,
		SIZE_MAX };
	struct mu_type type;
	size_t i;

	randomness = (uint32_t)_i + 1;
	for (i = 0; i < WORDS; i++)
		words[i] = draw_word();
	for (i = 0; i < WORDS; i++) {
		if (i % 256 == 0)
			open_symbols();
		if (ask(at(i), sizes[draw(8)], &type)) {
			ck_assert_ptr_nonnull(type.name);
			ck_assert_uint_lt(strlen(type.name), 4096);
			ck_assert_int_lt(type.source, MU_TYPE_SOURCES);
		} else
			ck_assert_ptr_null(type.name);
	}
}

/* Of glibc, musl, a mapping of glibc, and of jemalloc's classes. */
TEST(sizes_of_blocks)
{
	static const struct sample {
		uint64_t block, least;
	} samples[] = { { 8, 0 }, { 12, 0 }, { 16, 0 }, { 24, 0 }, { 40, 25 },
		{ 56, 41 }, { 1032, 1017 }, { 28, 13 }, { 44, 29 }, { 32, 17 },
		{ 48, 33 }, { 128, 113 }, { 160, 129 }, { 192, 161 },
		{ 320, 257 }, { 4096, 3585 }, { 5120, 4097 },
		{ 135152, 131057 } };
	size_t i;

	for (i = 0; i < sizeof(samples) / sizeof(*samples); i++) {
		ck_assert_uint_eq(
		    mu_block_least(samples[i].block), samples[i].least);
		ck_assert(mu_block_fits(samples[i].block, samples[i].block));
		ck_assert(
		    !mu_block_fits(samples[i].block + 1, samples[i].block));
	}
	/* The rest of a chunk of glibc may be added. */
	ck_assert(mu_block_fits(25, 56));
	ck_assert(!mu_block_fits(24, 56));
	ck_assert(mu_block_fits(0, 40));
	ck_assert(!mu_block_fits(16, 48));
}

SUITE(.setup = set_up, .teardown = tear_down);
