/* Blocks whose address is an integer of CPython or of Chez Scheme. */
#include "heapwalk/mark/integers.h"
#include "tests/support/graph/referring.h"
#include "tests/support/suite.h"

#define FLAGS 21 /* the word of tp_flags */
#define FLAG_LONG ((uintptr_t)1 << 24)
#define FLAG_TYPE ((uintptr_t)1 << 31)
#define WORDS 4 /* of an int of two digits */
#define USES 3
#define SIZE_OLD 2
#define SIZE_NEW 16

static uintptr_t meta[FLAGS + 1], type[FLAGS + 1];

static const void *
view(struct mu_memory *memory, uintptr_t address, size_t size)
{
	(void)memory;
	(void)size;
	return address < 4096 ? NULL : (const void *)address;
}

static const struct mu_memory_ops ops = { .name = "test", .view = view };

static void
begin(int kind)
{
	open_case(kind, 8192);
	referring_snap.memory.ops = &ops;
	memset(meta, 0, sizeof(meta));
	memset(type, 0, sizeof(type));
	meta[1] = (uintptr_t)meta;
	meta[FLAGS] = FLAG_TYPE;
	type[1] = (uintptr_t)meta;
	type[FLAGS] = FLAG_LONG;
}

static uintptr_t
digits(const void *address)
{
	uintptr_t value = (uintptr_t)address, low = ((uintptr_t)1 << 30) - 1;

	return (value & low) | value >> 30 << 32;
}

static void
make_int(void *at, const void *address)
{
	uintptr_t *words = at;

	words[0] = USES;
	words[1] = (uintptr_t)type;
	words[2] = SIZE_NEW;
	words[3] = digits(address);
}

/* The COUNT words of ROOT are roots. */
static void
mark_integers(uintptr_t *root, size_t count, unsigned encodings)
{
	root_range(root, root + count);
	mark();
	marking_heap.blocks.integers = encodings;
	ck_assert_int_eq(mu_integers_mark(&marking_graph, &referring_snap,
			     &marking_roots, FAKE_NO_DEADLINE),
	    MU_OK);
}

TEST_LOOP(an_int_in_a_root, 0, FAKE_KINDS)
{
	uintptr_t root[WORDS];
	void **block, **next;

	begin(_i);
	block = marking_node(4);
	next = marking_node(4);
	block[2] = next;
	make_int(root, block);
	mark_integers(root, WORDS, MU_INTEGERS_DIGITS);
	expect_leaks(0, 0);
	ck_assert_uint_eq(marking_graph.num_integers, 1);
	ck_assert_uint_eq(marking_graph.integers->address, (uintptr_t)&root[3]);
	expect(block, 1);
	ck_assert_uint_eq(found.items->address, (uintptr_t)&root[3]);
	ck_assert_int_eq(found.items->into, 0);
}

/* What is in an int that is reached through another one. */
TEST_LOOP(ints_in_blocks, 0, FAKE_KINDS)
{
	uintptr_t root[WORDS];
	void **first, **second, **third, **lost;

	begin(_i);
	third = marking_node(4);
	second = marking_node(WORDS);
	first = marking_node(WORDS);
	lost = marking_node(WORDS);
	make_int(root, first);
	make_int(first, second);
	make_int(second, third);
	make_int(lost, marking_node(4));
	mark_integers(root, WORDS, MU_INTEGERS_DIGITS);
	ck_assert(fake_marked(&marking_heap, third));
	expect_leaks(2,
	    fake_usable(&marking_heap, WORDS * W) +
		fake_usable(&marking_heap, 4 * W));
	expect(third, 1);
	ck_assert_uint_eq(found.items->begin, (uintptr_t)second);
}

static void
set_old(uintptr_t *root)
{
	root[2] = SIZE_OLD;
}

static void
set_flag(uintptr_t *root)
{
	root[2] |= 4;
}

static void
set_immortal(uintptr_t *root)
{
	root[0] = UINT32_MAX;
}

static void
set_kept_forever(uintptr_t *root)
{
	root[0] = (uintptr_t)1 << 48 | (uintptr_t)3 << 30;
}

static void (*const releases[])(
    uintptr_t *root) = { set_old, set_flag, set_immortal, set_kept_forever };

TEST_LOOP(ints_of_other_releases, 0, sizeof(releases) / sizeof(*releases))
{
	uintptr_t root[WORDS];

	begin(FAKE_SPAN);
	make_int(root, marking_node(4));
	releases[_i](root);
	mark_integers(root, WORDS, MU_INTEGERS_DIGITS);
	expect_leaks(0, 0);
}

static void
free_it(uintptr_t *root)
{
	root[0] = (uintptr_t)(root + 8);
}

static void
free_the_last(uintptr_t *root)
{
	root[0] = 0;
}

static void
negate(uintptr_t *root)
{
	root[2] |= 2;
}

static void
add_a_digit(uintptr_t *root)
{
	root[2] = 24;
}

static void
point_inside(uintptr_t *root)
{
	root[3]++;
}

static void
leave_the_address(uintptr_t *root)
{
	root[3] = digits((void *)~root[3]);
}

static void
take_another_type(uintptr_t *root)
{
	(void)root;
	type[FLAGS] = ~FLAG_LONG;
}

static void
take_no_type(uintptr_t *root)
{
	(void)root;
	meta[FLAGS] = 0;
}

static void
take_a_wild_type(uintptr_t *root)
{
	root[1] = 8;
}

static void
take_an_odd_type(uintptr_t *root)
{
	root[1]++;
}

static void (*const spoils[])(uintptr_t *root) = { free_it, free_the_last,
	negate, add_a_digit, point_inside, leave_the_address, take_another_type,
	take_no_type, take_a_wild_type, take_an_odd_type };

TEST_LOOP(no_int, 0, sizeof(spoils) / sizeof(*spoils))
{
	uintptr_t root[WORDS];
	void **block;

	begin(FAKE_SPAN);
	block = marking_node(4);
	make_int(root, block);
	spoils[_i](root);
	mark_integers(root, WORDS, MU_INTEGERS_DIGITS);
	expect_leaks(1, fake_usable(&marking_heap, 4 * W));
	expect(block, 0);
}

/* The header would lie before the first readable page. */
TEST(a_header_that_cannot_be_read)
{
	begin(FAKE_SPAN);
	ck_assert(!mu_integers_refer(&referring_snap, MU_INTEGERS_DIGITS, 64,
	    digits(type), (uintptr_t)type));
}

TEST_LOOP(a_fixnum, 0, FAKE_KINDS)
{
	uintptr_t root[1];
	void **block;

	begin(_i);
	block = marking_node(4);
	root[0] = (uintptr_t)block << 3;
	mark_integers(root, 1, MU_INTEGERS_FIXNUM);
	expect_leaks(0, 0);
	expect(block, 1);
}

TEST(no_fixnum)
{
	uintptr_t root[2];

	begin(FAKE_SPAN);
	root[0] = ((uintptr_t)marking_node(4) << 3) + 8;
	root[1] = (uintptr_t)marking_node(4) << 3 | 1;
	mark_integers(root, 2, MU_INTEGERS_FIXNUM);
	expect_leaks(2, 2 * fake_usable(&marking_heap, 4 * W));
}

/* What an integer leads to has a pointer, and one more integer. */
TEST_LOOP(an_edge_is_followed_first, 0, FAKE_KINDS)
{
	uintptr_t root[1];
	void **first, **second, **third;

	begin(_i);
	first = marking_node(4);
	second = marking_node(4);
	third = marking_node(4);
	first[0] = second;
	first[1] = (void *)((uintptr_t)third << 3);
	root[0] = (uintptr_t)first << 3;
	mark_integers(root, 1, MU_INTEGERS_FIXNUM);
	ck_assert(fake_marked(&marking_heap, second));
	ck_assert(fake_marked(&marking_heap, third));
}

/* The same for an int that has a dictionary. */
TEST_LOOP(what_an_int_has_is_followed_first, 0, FAKE_KINDS)
{
	uintptr_t root[WORDS];
	void **first, **second, **third;

	begin(_i);
	first = marking_node(6);
	second = marking_node(4);
	third = marking_node(4);
	make_int(root, first);
	make_int(first, third);
	first[WORDS] = second;
	mark_integers(root, WORDS, MU_INTEGERS_DIGITS);
	ck_assert(fake_marked(&marking_heap, second));
	ck_assert(fake_marked(&marking_heap, third));
}

static bool
nothing_written(
    struct mu_memory *memory, struct mu_range range, struct mu_range *part)
{
	(void)memory;
	(void)range;
	(void)part;
	return false;
}

/* Pages of a large block that were never written are not read. */
TEST(a_large_block_without_data)
{
	static const struct mu_memory_ops empty = {
		.name = "empty", .view = view, .populated = nothing_written
	};
	uintptr_t *large, root[1];

	open_case(FAKE_SPAN, (size_t)4 << 20);
	large = fake_block(&marking_heap, (size_t)2 << 20, false);
	large[1000] = (uintptr_t)marking_node(4) << 3;
	root[0] = (uintptr_t)large;
	referring_snap.memory.ops = &empty;
	mark_integers(root, 1, MU_INTEGERS_FIXNUM);
	expect_leaks(1, fake_usable(&marking_heap, 4 * W));
}

/* No interpreter is mapped that has such integers. */
TEST(interpreters)
{
	static struct mu_mapping mapping = { .executable = true, .inode = 1 };
	static const struct {
		const char *name;
		unsigned encodings;
	} files[] = { { "/usr/bin/python3.11", MU_INTEGERS_DIGITS },
		{ "/lib/libpython3.13.so.1.0", MU_INTEGERS_DIGITS },
		{ "/x/_y.cpython-311-x86_64-linux-gnu.so", MU_INTEGERS_DIGITS },
		{ "/usr/bin/racket", MU_INTEGERS_FIXNUM },
		{ "/usr/lib/python3/x.so", 0 }, { "/usr/bin/perl", 0 },
		{ "", 0 } };
	size_t i;

	begin(FAKE_SPAN);
	referring_snap.mappings = &mapping;
	referring_snap.num_mappings = 1;
	for (i = 0; i < sizeof(files) / sizeof(*files); i++) {
		mapping.name = files[i].name;
		ck_assert_uint_eq(
		    mu_integers_used(&referring_snap), files[i].encodings);
	}
	mapping.name = files[0].name;
	mapping.executable = false;
	ck_assert_uint_eq(mu_integers_used(&referring_snap), 0);
}

SUITE(.teardown = marking_teardown);
