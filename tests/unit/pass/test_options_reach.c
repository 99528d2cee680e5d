/*
 * lib/state/options_reach.c, and pointer_mask: what counts as a reference,
 * parsed, searched for, and described in a report.
 */
#include "tests/support/pass/parsed_options.h"
#include "tests/support/suite.h"

TEST(masks)
{
	static const struct {
		const char *text;
		uint64_t mask;
	} good[] = {
		{ "pointer_mask=0x00ffffffffffffff", 0x00ffffffffffffff },
		{ "pointer_mask=0XFFFFFFFFFFFFFFF8", 0xfffffffffffffff8 },
		{ "pointer_mask=0x7ffffffff000", 0x00007ffffffff000 },
		{ "pointer_mask=0x0000000000000007ffffffffffff",
		    0x7ffffffffffff },
		{ "pointer_mask=72057594037927935", 0x00ffffffffffffff },
		{ "pointer_mask=18446744073709551615", UINT64_MAX },
	};
	static const char *const bad[] = { "pointer_mask=0", "pointer_mask=1",
		"pointer_mask=0x", "pointer_mask=0xfffffffffffffffff",
		"pointer_mask=0x10000000000000000",
		"pointer_mask=18446744073709551616",
		"pointer_mask=0x00fffffffffffffg", "pointer_mask=-1",
		"pointer_mask=0x3ffffffff000", "pointer_mask=0x7fffffffe000",
		"pointer_mask=ffffffffffffffff", "pointer_mask= 0xffffffffffff",
		"pointer_mask=~7" };
	size_t i;

	for (i = 0; i < sizeof(good) / sizeof(*good); i++) {
		ck_assert_str_eq(parse(good[i].text), "");
		ck_assert_uint_eq(parsed_options.pointer_mask, good[i].mask);
	}
	for (i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		parse(bad[i]);
		ck_assert_ptr_nonnull(strstr(
		    parsed_buffer, ": expected a mask that has bits 12 to 46"));
		ck_assert_ptr_eq(
		    strchr(parsed_buffer, '\n') + 1, strchr(parsed_buffer, 0));
		ck_assert_uint_eq(parsed_options.pointer_mask, UINT64_MAX);
	}
}

static const char *
reach_words(const char *text)
{
	static char words[256];
	struct mu_text out = { words, sizeof(words), 0 };

	words[0] = '\0';
	ck_assert_str_eq(parse(text), "");
	mu_options_reach_words(&parsed_options, &out);
	return words;
}

TEST(reach_is_everything_by_default)
{
	static const struct mu_reach everything;
	struct mu_reach reach;

	ck_assert_str_eq(reach_words(""), "");
	reach = mu_options_reach(&parsed_options);
	ck_assert(!reach.no_globals && !reach.no_stacks && !reach.no_registers);
	ck_assert(!reach.no_tls && !reach.no_regions);
	ck_assert(!reach.words.unaligned);
	ck_assert_uint_eq(reach.words.tags, everything.words.tags);
}

/* Each option in the place of the search that it is about, and in words. */
TEST(reach_follows_each_option)
{
	struct mu_reach reach;

#define ONE(text, field)                                               \
	ck_assert_str_eq(reach_words(text), text);                     \
	reach = mu_options_reach(&parsed_options);                     \
	ck_assert(reach.field);                                        \
	ck_assert_int_eq(reach.no_globals + reach.no_stacks +          \
		reach.no_registers + reach.no_tls + reach.no_regions + \
		reach.words.unaligned + (reach.words.tags != 0),       \
	    1);
	ONE("use_globals=0", no_globals)
	ONE("use_stacks=0", no_stacks)
	ONE("use_registers=0", no_registers)
	ONE("use_tls=0", no_tls)
	ONE("use_root_regions=0", no_regions)
	ONE("use_unaligned=1", words.unaligned)
	ONE("pointer_mask=0xffffffffffffff", words.tags == 0xfful << 56)
#undef ONE
	ck_assert_str_eq(reach_words("use_tls=0:use_stacks=no:confirm=1"),
	    "use_stacks=0 use_tls=0");
}
