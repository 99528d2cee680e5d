/* The type of a group, of those that several of its blocks have. */
#include "lib/check/group_types.h"
#include "tests/support/graph/unpacked.h"
#include "tests/support/suite.h"

#define BLOCKS ((size_t)6)
#define BEGIN ((uintptr_t)0x1000)

static struct mu_block_types types;
static struct mu_typed_block blocks[BLOCKS];
static struct mu_type all[BLOCKS];
static struct mu_arena arena;

static void
setup(void)
{
	mu_arena_open(&arena, 1 << 20);
	memset(all, 0, sizeof(all));
}

static void
teardown(void)
{
	mu_arena_close(&arena);
}

static void
set(size_t block, const char *name, bool certain)
{
	all[block] = (struct mu_type) {
		.name = name, .source = MU_TYPE_DWARF, .certain = certain
	};
}

/* A group of all blocks; the first one is the example. */
static void
settle(size_t asked)
{
	struct mu_packed packed = { .arena = &arena };
	struct mu_lost_group group = { .size = 48, .count = BLOCKS };
	struct mu_entries entries = { .num_groups = 1 };
	size_t i;

	for (i = 0; i < BLOCKS; i++) {
		blocks[i] = (struct mu_typed_block) { .begin = BEGIN + 64 * i,
			.size = 48 };
		if (i > 0)
			group.others[group.num_others++] = blocks[i].begin;
	}
	group.example.range = (struct mu_range) { BEGIN, BEGIN + 48 };
	ck_assert(mu_packed_add_group(&packed, &group));
	entries.packed = packed_bytes(&packed);
	entries.size = packed.size;
	types = (struct mu_block_types) { blocks, asked, asked, all };
	mu_group_types_settle(&types, &entries);
	free(entries.packed);
}

static void
expect(const char *name, bool certain)
{
	if (name == NULL)
		ck_assert_ptr_null(all[0].name);
	else
		ck_assert_pstr_eq(all[0].name, name);
	ck_assert_int_eq(all[0].certain, certain);
}

TEST(none)
{
	settle(BLOCKS);
	expect(NULL, false);
}

TEST(first_has_none)
{
	set(1, "request", false);
	set(3, "request", false);
	settle(BLOCKS);
	expect(NULL, false);
	set(4, "request", false);
	settle(BLOCKS);
	expect("request", false);
}

/* What one block certainly is, the others are not. */
TEST(first_is_another)
{
	size_t i;

	set(0, "Order", true);
	for (i = 1; i < BLOCKS; i++)
		set(i, "Session", true);
	settle(BLOCKS);
	expect("Order", false);
	set(0, "request", false);
	settle(BLOCKS);
	expect("Session", false);
}

TEST(what_others_look_like)
{
	size_t i;

	for (i = 1; i < BLOCKS; i++) {
		set(i, "text", false);
		all[i].source = MU_TYPE_CONTENT;
	}
	settle(BLOCKS);
	expect(NULL, false);
}

TEST(most_have_it)
{
	set(0, "FILE", false);
	set(1, "request", false);
	set(4, "request", false);
	settle(BLOCKS);
	expect("request", false);
}

TEST(first_of_equals)
{
	set(0, "FILE", false);
	set(1, "request", false);
	settle(BLOCKS);
	expect("FILE", false);
}

/* What is one of several is what another block alone is. */
TEST(lists)
{
	set(0, "FILE, my request or request", false);
	set(1, "FILE, my request or request", false);
	set(2, "FILE or requests", false);
	set(3, "request", false);
	settle(BLOCKS);
	expect("request", false);
	set(0, "FILE or my request", false);
	set(1, "FILE or my request", false);
	settle(BLOCKS);
	expect("FILE or my request", false);
}

TEST(certain_first)
{
	size_t i;

	for (i = 0; i < BLOCKS; i++)
		set(i, "request", false);
	set(4, "Session", true);
	settle(BLOCKS);
	expect("Session", false);
}

TEST(certain_of_all)
{
	size_t i;

	for (i = 0; i < BLOCKS; i++)
		set(i, "Session", true);
	settle(BLOCKS);
	expect("Session", true);
	settle(2); /* of the others no type was wanted */
	expect("Session", true);
	set(5, "Order", true);
	settle(BLOCKS);
	expect("Session", false);
	set(0, "Session", true);
	all[5].name = NULL;
	settle(BLOCKS);
	expect("Session", false);
}

/* Contents are those of a block, not of a group. */
TEST(text_of_its_own)
{
	set(0, "char[]", false);
	all[0].text = "one";
	set(1, "Session", true);
	set(2, "Session", true);
	all[1].text = "two";
	settle(BLOCKS);
	expect("Session", false);
	ck_assert_pstr_eq(all[0].text, "one");
}

SUITE(.setup = setup, .teardown = teardown);
