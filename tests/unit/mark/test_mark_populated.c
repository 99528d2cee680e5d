/* Marking reads only the populated parts of large ranges. */
#include "tests/support/graph/marking.h"
#include "tests/support/suite.h"

#define LARGE ((size_t)4 << 20)
#define PAGE ((size_t)4096)

/* Memory of which only two parts are populated. */
static struct mu_range parts[2];
static size_t num_asked;

static bool
populated(
    struct mu_memory *memory, struct mu_range range, struct mu_range *part)
{
	size_t i;

	(void)memory;
	num_asked++;
	for (i = 0; i < 2; i++) {
		if (parts[i].begin >= range.end || parts[i].end <= range.begin)
			continue;
		*part = parts[i];
		if (part->begin < range.begin)
			part->begin = range.begin;
		if (part->end > range.end)
			part->end = range.end;
		return true;
	}
	return false;
}

static const struct mu_memory_ops ops = { .name = "fake",
	.populated = populated };

/* What is not populated faults if it is read after all. */
static char *
map_sparse(size_t first, size_t second)
{
	char *map =
	    mmap(NULL, LARGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	ck_assert_ptr_ne(map, MAP_FAILED);
	ck_assert_int_eq(
	    mprotect(map + first, PAGE, PROT_READ | PROT_WRITE), 0);
	ck_assert_int_eq(
	    mprotect(map + second, PAGE, PROT_READ | PROT_WRITE), 0);
	parts[0] = (struct mu_range) { (uintptr_t)map + first,
		(uintptr_t)map + first + PAGE };
	parts[1] = (struct mu_range) { (uintptr_t)map + second,
		(uintptr_t)map + second + PAGE };
	num_asked = 0;
	return map;
}

TEST_LOOP(large_ranges, 0, FAKE_KINDS)
{
	struct mu_memory memory = { .ops = &ops };
	size_t second = 3 * PAGE;
	void **a, **b;
	char *map;

	marking_open_heap(_i, 4096);
	a = marking_node(1);
	b = marking_node(1);
	marking_node(1);
	map = map_sparse(PAGE, second);
	*(void **)(map + PAGE) = a;
	*(void **)(map + second + PAGE - W) = b;
	root_range(map + 3, map + LARGE - 3);
	fake_heap_seal(&marking_heap);
	ck_assert_int_eq(mark_with(&memory, FAKE_NO_DEADLINE, 100), MU_OK);
	ck_assert_uint_eq(num_asked, 3);
	ck_assert(fake_marked(&marking_heap, a));
	ck_assert(fake_marked(&marking_heap, b));
	expect_leaks(1, fake_usable(&marking_heap, W));
}

TEST(large_blocks)
{
	struct mu_memory memory = { .ops = &ops };
	struct mu_range range;
	void **a;
	char *map;

	marking_open_heap(FAKE_LISTED, 4096);
	a = marking_node(1);
	map = map_sparse(0, LARGE / 2);
	*(void **)(map + LARGE / 2) = a;
	range = (struct mu_range) { (uintptr_t)map, (uintptr_t)map + LARGE };
	ck_assert_int_eq(
	    mu_blocks_add(&marking_heap.blocks, range, map, false), MU_OK);
	root_value(map + LARGE - 1);
	fake_heap_seal(&marking_heap);
	ck_assert_int_eq(mark_with(&memory, FAKE_NO_DEADLINE, 100), MU_OK);
	expect_leaks(0, 0);
}

SUITE(.teardown = marking_teardown);
