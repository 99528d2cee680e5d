/* Frames of interpreted functions in a depot, right and damaged. */
#include "heapwalk/recorded/scripts.h"
#include "tests/support/suite.h"

#define UNITS 64
#define FILE_UNIT 10
#define FUNCTION_UNIT 20
#define LINE_UNIT 30
#define FRAME (MU_FRAME_SCRIPT | LINE_UNIT)

static union {
	char bytes[UNITS * MU_DEPOT_UNIT];
	struct mu_stack align;
} depot;
static struct mu_script script;

static struct mu_stack *
at(uint32_t unit)
{
	return (struct mu_stack *)(depot.bytes + unit * MU_DEPOT_UNIT);
}

static const char *
entry(const void *ctx, uint32_t unit, size_t *room)
{
	ck_assert_ptr_eq(ctx, &depot);
	if (unit >= UNITS)
		return NULL;
	*room = sizeof(depot.bytes) - unit * MU_DEPOT_UNIT;
	return (const char *)at(unit);
}

static bool
find(uint64_t frame)
{
	return mu_script_find(entry, &depot, frame, &script);
}

static void
put(uint32_t unit, const void *words, size_t size)
{
	at(unit)->flags = MU_STACK_SCRIPT;
	at(unit)->num_frames = (uint16_t)(size / sizeof(uint64_t));
	memcpy(at(unit)->frames, words, size);
}

static void
setup(void)
{
	uint64_t words[2] = { FILE_UNIT | (uint64_t)FUNCTION_UNIT << 32, 88 };

	memset(&depot, 0, sizeof(depot));
	put(FILE_UNIT, "/a/file.py\0\0\0\0\0", 16);
	put(FUNCTION_UNIT, "Shop.take\0\0\0\0\0\0", 16);
	put(LINE_UNIT, words, sizeof(words));
}

TEST(is_found)
{
	ck_assert(find(FRAME));
	ck_assert_str_eq(script.file, "/a/file.py");
	ck_assert_str_eq(script.function, "Shop.take");
	ck_assert_uint_eq(script.line, 88);
	ck_assert(!find(LINE_UNIT));
	ck_assert(!find((UINT64_C(0xffff) << MU_FRAME_SHIFT) | LINE_UNIT));
	ck_assert(!find(MU_FRAME_SCRIPT | UNITS));
	ck_assert(!find(MU_FRAME_SCRIPT | UINT32_MAX));
	ck_assert(!find(MU_FRAME_SCRIPT | FILE_UNIT));
}

TEST(damaged_texts)
{
	at(FUNCTION_UNIT)->num_frames = 0;
	ck_assert(!find(FRAME));
	setup();
	memset(at(FILE_UNIT)->frames, 'a', 16);
	ck_assert(!find(FRAME));
	setup();
	at(FILE_UNIT)->num_frames = UINT16_MAX;
	ck_assert(!find(FRAME));
	setup();
	at(FILE_UNIT)->flags = 0;
	ck_assert(!find(FRAME));
}

TEST(damaged_line)
{
	at(LINE_UNIT)->frames[0] = UINT64_MAX;
	ck_assert(!find(FRAME));
	setup();
	at(LINE_UNIT)->num_frames = 1;
	ck_assert(!find(FRAME));
	setup();
	at(LINE_UNIT)->flags = MU_STACK_SCRIPT | MU_STACK_CHILD;
	ck_assert(!find(FRAME));
	/* What is left of the block is too little for a head. */
	ck_assert(!find(MU_FRAME_SCRIPT | (UNITS - 1)));
}

SUITE(.setup = setup);
