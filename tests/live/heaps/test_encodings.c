/*
 * References that are not addresses: fontconfig's patterns and character sets
 * store the distance to their arrays. Arrays in use are not reported, lost ones
 * are.
 */
#include <dlfcn.h>

#include "tests/support/live.h"
#include "tests/support/suite.h"

#define PATTERNS 100
#define LEAVES 40

static struct {
	void *(*pattern_create)(void);
	int (*add_integer)(void *pattern, const char *object, int value);
	int (*add_string)(
	    void *pattern, const char *object, const unsigned char *value);
	void (*pattern_destroy)(void *pattern);
	void *(*charset_create)(void);
	int (*add_char)(void *charset, uint32_t character);
	void (*charset_destroy)(void *charset);
} fc;

static const struct {
	const char *name;
	void *place;
} functions[] = {
	{ "FcPatternCreate", &fc.pattern_create },
	{ "FcPatternAddInteger", &fc.add_integer },
	{ "FcPatternAddString", &fc.add_string },
	{ "FcPatternDestroy", &fc.pattern_destroy },
	{ "FcCharSetCreate", &fc.charset_create },
	{ "FcCharSetAddChar", &fc.add_char },
	{ "FcCharSetDestroy", &fc.charset_destroy },
};

static void *held[PATTERNS + 1];

static bool
has_fontconfig(void)
{
	void *library = dlopen("libfontconfig.so.1", RTLD_NOW), *function;
	size_t i;

	if (library == NULL) {
		printf("SKIPPED: no libfontconfig.so.1: %s\n", dlerror());
		return false;
	}
	for (i = 0; i < sizeof(functions) / sizeof(*functions); i++) {
		function = dlsym(library, functions[i].name);
		ck_assert_ptr_nonnull(function);
		memcpy(functions[i].place, &function, sizeof(function));
	}
	return true;
}

LIVE uintptr_t
new_pattern(int number)
{
	void *pattern = fc.pattern_create();

	fc.add_integer(pattern, "weight", number);
	fc.add_integer(pattern, "slant", number);
	fc.add_string(
	    pattern, "family", (const unsigned char *)"a family of fonts");
	return mu_hide(pattern);
}

LIVE uintptr_t
new_charset(uint32_t leaves)
{
	void *charset = fc.charset_create();
	uint32_t i;

	for (i = 0; i < leaves; i++)
		fc.add_char(charset, (i * 7 % LEAVES) * 256 + 32);
	return mu_hide(charset);
}

LIVE void
destroy(void (*function)(void *), uintptr_t hidden)
{
	function(mu_reveal(hidden));
}

/* Skip what the library allocates at first. */
LIVE void
warm_up(void)
{
	destroy(fc.pattern_destroy, new_pattern(1));
	destroy(fc.charset_destroy, new_charset(LEAVES));
}

TEST(in_use)
{
	size_t i;

	if (!has_fontconfig())
		return;
	warm_up();
	EXPECT_LEAKS(0);
	for (i = 0; i < PATTERNS; i++)
		put(&held[i], new_pattern((int)i));
	put(&held[PATTERNS], new_charset(LEAVES));
	EXPECT_LEAKS(0);
}

TEST_LOOP(in_use_with_leaves, 0, LEAVES + 1)
{
	if (!has_fontconfig())
		return;
	warm_up();
	put(&held[0], new_charset((uint32_t)_i));
	EXPECT_LEAKS(0);
}

/* Each is one entry, with all that it has. */
TEST(lost)
{
	struct UnreachableMemoryInfo info = { 0 };
	uintptr_t pattern, charset;

	if (!has_fontconfig())
		return;
	warm_up();
	pattern = new_pattern(3);
	charset = new_charset(LEAVES);
	scrub();
	ck_assert(GetUnreachableMemory(&info, 10));
	if (info.num_reported != 2)
		show(&info);
	ck_assert_uint_eq(info.num_reported, 2);
	/* Leaves, and the two arrays; elements, and their values. */
	ck_assert_uint_eq(~info.leaks[0].begin, charset);
	ck_assert_uint_eq(info.leaks[0].referenced_count, LEAVES + 2);
	ck_assert_uint_eq(~info.leaks[1].begin, pattern);
	ck_assert_uint_ge(info.leaks[1].referenced_count, 4);
	FreeUnreachableMemoryInfo(&info);
	destroy(fc.pattern_destroy, pattern);
	destroy(fc.charset_destroy, charset);
	EXPECT_LEAKS(0);
}

/*
 * Nearly a pattern: with an array of another size, without a reference, with a
 * distance that leads into the array.
 */
TEST_LOOP(no_pattern, 0, 3)
{
	uintptr_t pattern, block, array;
	int64_t words[3];

	if (!has_fontconfig())
		return;
	warm_up();
	pattern = new_pattern(3);
	put(&held[0], pattern);
	EXPECT_LEAKS(0);
	array = block_new(_i == 0 ? 18 * 16 : 16 * 16);
	block = block_new(24);
	memcpy(words, mu_reveal(pattern), sizeof(words));
	words[0] = (int64_t)16 << 32;
	words[1] = (int64_t)(block - array) + (_i == 2 ? 8 : 0);
	if (_i == 1)
		words[2] = 0;
	memcpy(mu_reveal(block), words, sizeof(words));
	put(&held[1], block);
	memset(words, 0, sizeof(words));
	EXPECT_LEAKS(1);
}

static bool
count_one(void *ctx, const struct MemunreachableReference *reference)
{
	*(size_t *)ctx += reference->kind == MEMUNREACHABLE_REFERENCE_BLOCK &&
	    reference->reachable;
	return true;
}

LIVE ptrdiff_t
who_has_elements(uintptr_t pattern, size_t *blocks)
{
	intptr_t offset;

	memcpy(&offset, (char *)mu_reveal(pattern) + 8, sizeof(offset));
	return memunreachable_why_reachable(
	    (char *)mu_reveal(pattern) + offset, count_one, blocks);
}

TEST(who_has_them)
{
	uintptr_t pattern;
	size_t blocks = 0;

	if (!has_fontconfig())
		return;
	pattern = new_pattern(3);
	put(&held[0], pattern);
	scrub();
	ck_assert_int_ge(who_has_elements(pattern, &blocks), 1);
	ck_assert_uint_eq(blocks, 1);
}
