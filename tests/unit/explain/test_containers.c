/*
 * lib/types/containers.h: containers of both C++ libraries, of GLib and of Qt,
 * made up here, are known with all of their parts; what differs from them in
 * one word is none, and no memory makes a walk endless.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/types/containers.h"
#include "tests/support/suite.h"

#define WORDS 4096
#define BLOCKS 64
#define WORD sizeof(uintptr_t)
#define CODE 0x4000

static uintptr_t words[WORDS];
static struct {
	uintptr_t begin;
	size_t size;
	enum mu_part_kind part, noted;
	size_t count;
} blocks[BLOCKS];
static size_t num_blocks, used;
static unsigned libraries = MU_LIBRARY_CXX;
static uint32_t randomness = 1;

static bool
read_words(void *ctx, uintptr_t address, void *buffer, size_t size)
{
	uintptr_t begin = (uintptr_t)words;

	(void)ctx;
	if (address < begin || size > sizeof(words) ||
	    address - begin > sizeof(words) - size)
		return false;
	memcpy(buffer, (char *)words + (address - begin), size);
	return true;
}

static size_t
size_of(void *ctx, uintptr_t begin)
{
	size_t i;

	(void)ctx;
	for (i = 0; i < num_blocks; i++)
		if (blocks[i].begin == begin)
			return blocks[i].size;
	return 0;
}

/* Instructions are below the words of the test. */
static bool
is_code(void *ctx, uintptr_t address)
{
	(void)ctx;
	return address == CODE;
}

static void
take(void *ctx, uintptr_t begin, enum mu_part_kind part, size_t count)
{
	size_t i;

	(void)ctx;
	for (i = 0; i < num_blocks; i++)
		if (blocks[i].begin == begin) {
			blocks[i].noted = part;
			blocks[i].count = count;
			return;
		}
	ck_abort_msg("no block");
}

static void
end(void *ctx, bool proven)
{
	size_t i;

	(void)ctx;
	for (i = 0; i < num_blocks; i++) {
		if (proven && blocks[i].noted != MU_PART_NONE)
			blocks[i].part = blocks[i].noted;
		blocks[i].noted = MU_PART_NONE;
	}
}

/* A block of SIZE usable bytes; its words. */
static uintptr_t *
block(size_t size)
{
	uintptr_t *at = &words[used];

	ck_assert_uint_lt(num_blocks, BLOCKS);
	blocks[num_blocks].begin = (uintptr_t)at;
	blocks[num_blocks++].size = size;
	used += (size + 8) / WORD;
	return at;
}

/* Words that are no block: the container itself. */
static uintptr_t *
owner(void)
{
	uintptr_t *at = &words[used];

	used += MU_CONTAINER_WORDS;
	return at;
}

static struct mu_containers
finder(void)
{
	return (struct mu_containers) { .libraries = libraries,
		.read = read_words,
		.code = is_code,
		.size = size_of,
		.found = take,
		.end = end,
		.most = 100,
		.steps = 1000 };
}

static bool
find(const uintptr_t *at)
{
	struct mu_containers parts = finder();
	size_t i;

	for (i = 0; i < num_blocks; i++)
		blocks[i].part = MU_PART_NONE;
	return mu_containers_find(
	    &parts, (uintptr_t)at, at, MU_CONTAINER_WORDS);
}

static enum mu_part_kind
part_of(const uintptr_t *at)
{
	size_t i;

	for (i = 0; i < num_blocks; i++)
		if (blocks[i].begin == (uintptr_t)at)
			return blocks[i].part;
	return MU_PART_NONE;
}

static size_t
count_parts(enum mu_part_kind part)
{
	size_t i, count = 0;

	for (i = 0; i < num_blocks; i++)
		count += blocks[i].part == part;
	return count;
}

static void
set_up(void)
{
	memset(words, 0, sizeof(words));
	num_blocks = 0;
	used = 8;
	libraries = MU_LIBRARY_CXX;
}

TEST(vectors)
{
	uintptr_t *vector = owner(), *elements = block(88);

	vector[0] = (uintptr_t)elements;
	vector[1] = vector[0] + 40;
	vector[2] = vector[0] + 80;
	ck_assert(find(vector));
	ck_assert_int_eq(part_of(elements), MU_PART_VECTOR);
	vector[1] = vector[0];
	ck_assert(find(vector));
	vector[1] = vector[0] + 81;
	ck_assert(!find(vector));
	vector[1] = vector[0] + 40;
	vector[2] = vector[0] + 48; /* not all of the block */
	ck_assert(!find(vector));
	vector[0] += 8;
	vector[2] = vector[0] + 80;
	ck_assert(!find(vector));
}

TEST(stream_is_no_vector)
{
	uintptr_t *stream = owner(), *buffer = block(1032);

	stream[0] = (uintptr_t)buffer; /* _IO_write_base */
	stream[1] = stream[0] + 40;
	stream[2] = stream[0] + 1024;
	stream[3] = stream[0]; /* _IO_buf_base */
	stream[4] = stream[2];
	ck_assert(!find(stream));
}

TEST(elements_that_are_strings)
{
	uintptr_t *vector = owner(), *elements = block(136), *text = block(40);

	vector[0] = (uintptr_t)elements;
	vector[1] = vector[0] + 64;
	vector[2] = vector[0] + 128;
	elements[0] = (uintptr_t)&elements[2];
	elements[1] = 5;
	memcpy(&elements[2], "hello", 6);
	elements[4] = (uintptr_t)text;
	elements[5] = 20;
	elements[6] = 30;
	memcpy(text, "more than 15 letters", 21);
	ck_assert(find(vector));
	ck_assert_int_eq(part_of(elements), MU_PART_STRINGS);
	ck_assert_uint_eq(blocks[0].count, 4);
	elements[5] = 19;
	ck_assert(find(vector));
	ck_assert_int_eq(part_of(elements), MU_PART_VECTOR);
}

TEST(deques)
{
	uintptr_t *deque = owner(), *map = block(72), *first = block(504),
		  *last = block(504);

	map[3] = (uintptr_t)first;
	map[4] = (uintptr_t)last;
	deque[0] = (uintptr_t)map;
	deque[1] = 8;
	deque[3] = (uintptr_t)first;
	deque[2] = deque[3] + 24;
	deque[4] = deque[3] + 504;
	deque[5] = (uintptr_t)&map[3];
	deque[7] = (uintptr_t)last;
	deque[6] = deque[7] + 48;
	deque[8] = deque[7] + 504;
	deque[9] = (uintptr_t)&map[4];
	ck_assert(find(deque));
	ck_assert_int_eq(part_of(map), MU_PART_DEQUE_MAP);
	ck_assert_uint_eq(count_parts(MU_PART_DEQUE), 2);
	map[4] = (uintptr_t)first;
	ck_assert(!find(deque));
	map[4] = (uintptr_t)last;
	deque[9] = (uintptr_t)&map[8];
	ck_assert(!find(deque));
}

TEST(deques_of_llvm)
{
	uintptr_t *deque = owner(), *map = block(56), *first = block(4088),
		  *last = block(4088);

	map[1] = (uintptr_t)first;
	map[2] = (uintptr_t)last;
	deque[0] = (uintptr_t)map;
	deque[1] = (uintptr_t)&map[1];
	deque[2] = (uintptr_t)&map[3];
	deque[3] = (uintptr_t)&map[6];
	deque[4] = 7;
	deque[5] = 200;
	ck_assert(find(deque));
	ck_assert_int_eq(part_of(map), MU_PART_DEQUE_MAP);
	ck_assert_uint_eq(count_parts(MU_PART_DEQUE), 2);
	map[2] = 0;
	ck_assert(!find(deque));
}

TEST(hash_tables)
{
	uintptr_t *table = owner(), *buckets = block(104), *node[3];
	float factor = 1;
	size_t i;

	for (i = 0; i < 3; i++)
		node[i] = block(24);
	node[0][0] = (uintptr_t)node[1];
	node[1][0] = (uintptr_t)node[2];
	table[0] = (uintptr_t)buckets;
	table[1] = 13;
	table[2] = (uintptr_t)node[0];
	table[3] = 3;
	memcpy(&table[4], &factor, sizeof(factor));
	ck_assert(find(table));
	ck_assert_int_eq(part_of(buckets), MU_PART_HASH_TABLE);
	ck_assert_uint_eq(count_parts(MU_PART_HASH_NODE), 3);
	table[3] = 2;
	ck_assert(!find(table));
	table[3] = 4;
	ck_assert(!find(table));
	table[3] = 3;
	table[4] = 0;
	ck_assert(!find(table));
	memcpy(&table[4], &factor, sizeof(factor));
	node[2][0] = (uintptr_t)node[0];
	ck_assert(!find(table));
}

TEST(lists)
{
	uintptr_t *list = owner(), *node[4], *before = list;
	size_t i;

	for (i = 0; i < 4; i++) {
		node[i] = block(40);
		node[i][1] = (uintptr_t)before;
		before[0] = (uintptr_t)node[i];
		before = node[i];
	}
	before[0] = (uintptr_t)list;
	list[1] = (uintptr_t)before;
	list[2] = 4;
	ck_assert(find(list));
	ck_assert_uint_eq(count_parts(MU_PART_LIST_NODE), 4);
	list[2] = 3; /* a list that has no number of nodes */
	ck_assert(!find(list));
	list[2] = 4;
	node[2][1] = (uintptr_t)node[3];
	ck_assert(!find(list));
}

/* A tree of 7 nodes whose links are at LEFT, RIGHT, PARENT. */
static uintptr_t
make_tree(size_t left, size_t right, size_t parent, uintptr_t header,
    uintptr_t *node[7])
{
	size_t i;

	for (i = 0; i < 7; i++)
		node[i] = block(40);
	for (i = 0; i < 7; i++) {
		node[i][parent] =
		    i == 0 ? header : (uintptr_t)node[(i - 1) / 2];
		node[i][left] = i < 3 ? (uintptr_t)node[2 * i + 1] : 0;
		node[i][right] = i < 3 ? (uintptr_t)node[2 * i + 2] : 0;
	}
	return (uintptr_t)node[0];
}

TEST(trees)
{
	uintptr_t *header = owner(), *node[7];

	header[1] = make_tree(2, 3, 1, (uintptr_t)header, node);
	header[2] = (uintptr_t)node[3];
	header[3] = (uintptr_t)node[6];
	header[4] = 7;
	ck_assert(find(header));
	ck_assert_uint_eq(count_parts(MU_PART_TREE_NODE), 7);
	header[4] = 6;
	ck_assert(!find(header));
	header[4] = 8;
	ck_assert(!find(header));
	header[4] = 7;
	node[4][1] = (uintptr_t)node[2];
	ck_assert(!find(header));
	node[4][1] = (uintptr_t)node[1];
	node[3][2] = (uintptr_t)node[0]; /* a cycle */
	ck_assert(!find(header));
	node[3][2] = 0;
	ck_assert(find(header));
	node[1][4] = 6; /* an inner node whose value is a number of nodes */
	ck_assert(!find(node[1]));
}

TEST(trees_of_llvm)
{
	uintptr_t *tree = owner(), *node[7];

	tree[1] = make_tree(0, 1, 2, (uintptr_t)&tree[1], node);
	tree[0] = (uintptr_t)node[3];
	tree[2] = 7;
	ck_assert(find(tree));
	ck_assert_uint_eq(count_parts(MU_PART_TREE_NODE), 7);
	tree[2] = 5;
	ck_assert(!find(tree));
}

/* When steps in vain are used up, nodes are not followed any more. */
TEST(steps)
{
	struct mu_containers parts = finder();
	uintptr_t *list = owner(), *node = block(40), *other = owner();

	list[0] = (uintptr_t)node;
	list[1] = (uintptr_t)node;
	list[2] = 1;
	node[0] = node[1] = (uintptr_t)list;
	other[0] = (uintptr_t)node;
	other[2] = 90;
	ck_assert(!mu_containers_find(&parts, (uintptr_t)other, other, 10));
	ck_assert_uint_eq(parts.steps, 1000); /* few are free */
	node[1] = (uintptr_t)node;
	node[0] = (uintptr_t)node;
	other[0] = (uintptr_t)node;
	list[2] = 90;
	node[1] = (uintptr_t)list;
	ck_assert(!mu_containers_find(&parts, (uintptr_t)list, list, 10));
	parts.steps = 0;
	node[0] = (uintptr_t)list;
	list[2] = 1;
	ck_assert(!mu_containers_find(&parts, (uintptr_t)list, list, 10));
	parts.steps = 1;
	ck_assert(mu_containers_find(&parts, (uintptr_t)list, list, 10));
	ck_assert_uint_eq(parts.steps, 1);
}

/* An inner node of a long list, whose value is a number of nodes. */
TEST(inner_nodes)
{
	struct mu_containers parts = finder();
	uintptr_t *node[40];
	size_t i;

	for (i = 0; i < 40; i++)
		node[i] = block(24);
	for (i = 0; i < 40; i++) {
		node[i][0] = (uintptr_t)node[(i + 1) % 40];
		node[i][1] = (uintptr_t)node[(i + 39) % 40];
		node[i][2] = 30;
	}
	ck_assert(!mu_containers_find(&parts, (uintptr_t)node[3], node[3], 3));
	ck_assert_uint_lt(parts.steps, 1000);
	node[3][2] = 100;
	parts = finder();
	parts.most = 1000;
	ck_assert(!mu_containers_find(&parts, (uintptr_t)node[3], node[3], 3));
	ck_assert_uint_eq(parts.steps, 1000);
}

/* What goes up in a circle is no tree, and is not gone through many times. */
TEST(circles)
{
	struct mu_containers parts = finder();
	uintptr_t *header = owner(), *root = block(40), *entry = block(40);
	uintptr_t *ring[40];
	size_t i;

	for (i = 0; i < 40; i++)
		ring[i] = block(40);
	for (i = 0; i < 40; i++) {
		ring[i][1] = (uintptr_t)ring[(i + 1) % 40];  /* parent */
		ring[i][2] = (uintptr_t)ring[(i + 39) % 40]; /* left */
	}
	ring[0][3] = (uintptr_t)entry; /* right */
	entry[1] = (uintptr_t)ring[0];
	entry[2] = (uintptr_t)root;
	root[1] = (uintptr_t)header;
	root[2] = (uintptr_t)entry;
	root[3] = (uintptr_t)entry;
	header[1] = (uintptr_t)root;
	header[2] = header[3] = (uintptr_t)root;
	header[4] = 20;
	parts.steps = 10000;
	ck_assert(!mu_containers_find(&parts, (uintptr_t)header, header, 10));
	ck_assert_uint_ge(parts.steps, 10000 - 3 * 20);
}

TEST(hash_tables_of_glib)
{
	uintptr_t *table = block(104), *keys = block(40), *hashes = block(40);
	uintptr_t *values = block(72), i;

	libraries = MU_LIBRARY_GLIB;
	table[0] = 8;
	table[1] = 7 | (uintptr_t)7 << 32;
	table[2] = 2 | (uintptr_t)3 << 32; /* one was removed */
	table[3] = 2;                      /* values have eight bytes */
	table[4] = (uintptr_t)keys;
	table[5] = (uintptr_t)hashes;
	table[6] = (uintptr_t)values;
	table[7] = table[8] = CODE;
	hashes[0] = 12345;
	hashes[1] = 1;
	hashes[3] = (uintptr_t)54321 << 32;
	ck_assert(find(table));
	ck_assert_int_eq(part_of(table), MU_PART_GHASH);
	ck_assert_int_eq(part_of(keys), MU_PART_GHASH_KEYS);
	ck_assert_int_eq(part_of(hashes), MU_PART_GHASH_HASHES);
	ck_assert_int_eq(part_of(values), MU_PART_GHASH_VALUES);
	for (i = 0; i < 9; i++) {
		if (i == 3 || i == 6)
			continue;
		table[i] += 16;
		ck_assert(!find(table));
		table[i] -= 16;
	}
	hashes[2] = 7;
	ck_assert(!find(table));
	hashes[2] = 0;
	table[6] = table[4];
	ck_assert(find(table));
	ck_assert_int_eq(part_of(keys), MU_PART_GHASH_KEYS);
}

TEST(arrays_of_glib)
{
	uintptr_t *pointers = block(40), *array = block(40);
	uintptr_t *string = block(24), *elements = block(72);
	uintptr_t *numbers = block(136), *text = block(72);

	libraries = MU_LIBRARY_GLIB;
	pointers[0] = (uintptr_t)elements;
	pointers[1] = 5 | (uintptr_t)8 << 32;
	pointers[2] = 1 | (uintptr_t)0x5500 << 32;
	ck_assert(find(pointers));
	ck_assert_int_eq(part_of(pointers), MU_PART_GPTRARRAY);
	ck_assert_int_eq(part_of(elements), MU_PART_GPTRARRAY_ELEMENTS);
	pointers[1] = 9 | (uintptr_t)8 << 32;
	ck_assert(!find(pointers));
	pointers[1] = 5 | (uintptr_t)4 << 32; /* not all of the block */
	ck_assert(!find(pointers));
	array[0] = (uintptr_t)numbers;
	array[1] = 7 | (uintptr_t)10 << 32;
	array[2] = 12;
	array[3] = 1;
	array[4] = CODE;
	ck_assert(find(array));
	ck_assert_int_eq(part_of(array), MU_PART_GARRAY);
	ck_assert_int_eq(part_of(numbers), MU_PART_GARRAY_ELEMENTS);
	array[1] = 7 | (uintptr_t)9 << 32; /* there is room for ten */
	ck_assert(!find(array));
	string[0] = (uintptr_t)text;
	string[1] = 20;
	string[2] = 64;
	memcpy(text, "more than 15 letters", 21);
	ck_assert(find(string));
	ck_assert_int_eq(part_of(string), MU_PART_GSTRING);
	string[1] = 19;
	ck_assert(!find(string));
}

TEST(lists_and_slices_of_glib)
{
	uintptr_t *node[3], *page, *elements;
	size_t i;

	libraries = MU_LIBRARY_GLIB;
	for (i = 0; i < 3; i++)
		node[i] = block(24);
	for (i = 0; i < 3; i++) {
		node[i][1] = i < 2 ? (uintptr_t)node[i + 1] : 0;
		node[i][2] = i > 0 ? (uintptr_t)node[i - 1] : 0;
	}
	for (i = 0; i < 3; i++) {
		ck_assert(find(node[i]));
		ck_assert_int_eq(part_of(node[i]), MU_PART_GLIST);
	}
	node[1][2] = 0;
	ck_assert(!find(node[0]));
	ck_assert(find(node[1]));
	used = 256 - (uintptr_t)words % 1024 / WORD;
	page = block(1016);
	page[122] = 3;
	page[124] = page[125] = (uintptr_t)&page[122];
	page[123] = 3;
	page[122] = 0;
	ck_assert(find(page));
	ck_assert_int_eq(part_of(page), MU_PART_GSLICES);
	elements = block(72); /* its first slice is an array of pointers */
	page[0] = (uintptr_t)elements;
	page[1] = 5 | (uintptr_t)8 << 32;
	page[2] = 1;
	ck_assert(find(page));
	ck_assert_int_eq(part_of(page), MU_PART_GSLICES);
	ck_assert_int_eq(part_of(elements), MU_PART_GPTRARRAY_ELEMENTS);
	page[0] = page[1] = page[2] = 0;
	page[125] = (uintptr_t)&page[121];
	ck_assert(!find(page));
}

TEST(hashes_of_qt)
{
	uintptr_t *five = block(56), *buckets = block(56), *node[3];
	uintptr_t *six = block(40), *spans = block(152), *entries = block(104);
	size_t i;

	libraries = MU_LIBRARY_QT5;
	for (i = 0; i < 3; i++)
		node[i] = block(40);
	five[1] = (uintptr_t)buckets;
	five[2] = 1 | (uintptr_t)3 << 32;
	five[3] = 32 | (uintptr_t)4 << 32;
	five[4] = 5;
	for (i = 0; i < 5; i++)
		buckets[i] = (uintptr_t)five;
	buckets[1] = (uintptr_t)node[0];
	node[0][0] = (uintptr_t)node[1];
	node[1][0] = (uintptr_t)five;
	buckets[4] = (uintptr_t)node[2];
	node[2][0] = (uintptr_t)five;
	ck_assert(find(five));
	ck_assert_int_eq(part_of(five), MU_PART_QHASH);
	ck_assert_int_eq(part_of(buckets), MU_PART_QHASH_BUCKETS);
	ck_assert_uint_eq(count_parts(MU_PART_QHASH_NODE), 3);
	five[2] = 1 | (uintptr_t)4 << 32;
	ck_assert(!find(five));
	five[2] = 1 | (uintptr_t)2 << 32;
	ck_assert(!find(five));
	five[2] = 1 | (uintptr_t)3 << 32;
	node[2][0] = (uintptr_t)node[2];
	ck_assert(!find(five));
	libraries = MU_LIBRARY_QT6;
	six[0] = 1;
	six[1] = 2;
	six[2] = 128;
	six[4] = (uintptr_t)&spans[1];
	spans[0] = 1;
	memset(&spans[1], 0xff, 128);
	spans[3] = ~(uintptr_t)0xffff;
	spans[17] = (uintptr_t)entries;
	ck_assert(find(six));
	ck_assert_int_eq(part_of(six), MU_PART_QHASH);
	ck_assert_int_eq(part_of(spans), MU_PART_QHASH_SPANS);
	ck_assert_int_eq(part_of(entries), MU_PART_QHASH_ENTRIES);
	six[1] = 3;
	ck_assert(!find(six));
	six[1] = 2;
	spans[0] = 2;
	ck_assert(!find(six));
}

TEST(maps_of_qt)
{
	uintptr_t *map = block(40), *node[3];
	size_t i;

	libraries = MU_LIBRARY_QT5;
	for (i = 0; i < 3; i++)
		node[i] = block(40);
	map[0] = 1 | (uintptr_t)3 << 32;
	map[2] = (uintptr_t)node[1];
	node[1][0] = (uintptr_t)&map[1] | 1; /* black */
	node[1][1] = (uintptr_t)node[0];
	node[1][2] = (uintptr_t)node[2];
	node[0][0] = node[2][0] = (uintptr_t)node[1];
	ck_assert(find(map));
	ck_assert_int_eq(part_of(map), MU_PART_QMAP);
	ck_assert_uint_eq(count_parts(MU_PART_QMAP_NODE), 3);
	map[0] = 1 | (uintptr_t)2 << 32;
	ck_assert(!find(map));
	map[0] = 1 | (uintptr_t)3 << 32;
	node[0][1] = (uintptr_t)node[2]; /* of another one */
	ck_assert(!find(map));
}

TEST(objects_of_qt)
{
	uintptr_t *object = block(24), *private = block(88);
	uintptr_t *extra = block(56), *thread = block(120);
	uintptr_t *connections = block(56), *signals = block(56);
	uintptr_t *one = block(88), *slot = block(24);

	libraries = MU_LIBRARY_QT5;
	object[0] = private[0] = CODE;
	object[1] = (uintptr_t) private;
	private[1] = (uintptr_t)object;
	private[6] = (uintptr_t)extra;
	private[7] = (uintptr_t)thread;
	private[8] = (uintptr_t)connections;
	connections[0] = (uintptr_t)1 << 32;
	connections[1] = (uintptr_t)signals;
	signals[1] = 1; /* one signal, and the list of all */
	signals[4] = signals[5] = (uintptr_t)one;
	one[4] = (uintptr_t)object;
	one[7] = (uintptr_t)slot;
	slot[0] = 1;
	slot[1] = CODE;
	ck_assert(find(private));
	ck_assert_int_eq(part_of(extra), MU_PART_QOBJECT_EXTRA);
	ck_assert_int_eq(part_of(thread), MU_PART_QTHREAD_DATA);
	ck_assert_int_eq(part_of(connections), MU_PART_QOBJECT_CONNECTIONS);
	ck_assert_int_eq(part_of(signals), MU_PART_QOBJECT_SIGNALS);
	ck_assert_int_eq(part_of(one), MU_PART_QOBJECT_CONNECTION);
	ck_assert_int_eq(part_of(slot), MU_PART_QOBJECT_SLOT);
	one[4] = (uintptr_t)extra; /* another sender */
	ck_assert(find(private));
	ck_assert_int_eq(part_of(one), MU_PART_NONE);
	object[1] = (uintptr_t)extra;
	ck_assert(!find(private));
}

static uint32_t
roll(uint32_t sides)
{
	randomness = randomness * 1664525 + 1013904223;
	return (randomness >> 8) % sides;
}

/* Memory of pointers to blocks, small numbers and whatever. */
TEST(random_memory)
{
	struct mu_containers parts;
	size_t i, round;

	for (i = 0; i < BLOCKS; i++)
		block(24 + 16 * (i % 8));
	for (round = 0; round < 20000; round++) {
		libraries = roll(16);
		for (i = 0; i < used; i++)
			words[i] = roll(3) == 0 ? roll(4)
			    : roll(20) == 0     ? (uintptr_t)-1
						: blocks[roll(BLOCKS)].begin +
				8 * (roll(3) == 0 ? roll(8) : 0);
		parts = finder();
		i = roll((uint32_t)used - MU_CONTAINER_WORDS);
		mu_containers_find(&parts, (uintptr_t)&words[i], &words[i],
		    roll(MU_CONTAINER_WORDS + 1));
	}
}

/* What a part leads to. */
TEST(below)
{
	bool same;

	ck_assert_str_eq(
	    mu_part_below("std::list node", &same), "std::list node");
	ck_assert(same);
	ck_assert_str_eq(mu_part_below("map of a std::deque", &same),
	    "elements of a std::deque");
	ck_assert(!same);
	ck_assert_ptr_null(mu_part_below("elements of a std::vector", &same));
	ck_assert_ptr_null(mu_part_below("shop::Order", &same));
}

SUITE(.setup = set_up);
