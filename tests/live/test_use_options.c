/*
 * LSan's use_ options and pointer_mask: what lives in one place only is lost
 * when the option that the place depends on is off, and only then.
 *
 * The scenarios are programs of their own: this one, run again with options.
 */
#include "tests/support/scenario.h"
#include "tests/support/suite.h"
#include "tests/support/use_references.h"

#define LIMIT 4000

static struct child child;

static int
answer_status(const struct UnreachableMemoryInfo *info)
{
	printf("status %d reason <%s>\n", info->status, info->reason);
	return info->num_reported < LIMIT ? 0 : 1;
}

static void
say(const char *name, bool lost)
{
	printf("%s: %s\n", name, lost ? "lost" : "kept");
}

static int
all_places(void)
{
	struct UnreachableMemoryInfo info = { 0 };
	void *local = NULL;
	size_t i;

	put(&local, place_block(IN_STACK));
	put_everywhere();
	scrub();
	GetUnreachableMemory(&info, LIMIT);
	if (!memunreachable_each_unreachable(note_unreachable, NULL))
		return 1;
	for (i = 0; i < NUM_PLACES; i++)
		say(places[i].name, is_place_lost((enum place)i));
	drop(&local);
	return answer_status(&info);
}

static char packed[64], tagged[64];
static char pages[3 * 4096] __attribute__((aligned(4096)));
static void *holder;
static uintptr_t odd[5], tags[4];

LIVE void
put_packed(void *place, uintptr_t hidden)
{
	uintptr_t word = ~hidden;

	memcpy(place, &word, sizeof(word));
}

LIVE void
fill_packed(char *local)
{
	size_t i;

	for (i = 0; i < 5; i++)
		odd[i] = block_new(72);
	put(&holder, block_new(72));
	put_packed(packed + 3, odd[0]);
	put_packed((char *)holder + 61, odd[1]);
	put_packed(pages + 4096 - 3, odd[2]);
	put_packed(pages + 2 * 4096 - 7, odd[3]);
	put_packed(local + 5, odd[4]);
}

static int
packed_pointers(void)
{
	static const char *const names[] = { "data", "block", "page end",
		"page begin", "stack" };
	struct UnreachableMemoryInfo info = { 0 };
	char local[64] __attribute__((aligned(8)));
	size_t i;

	memset(local, 0, sizeof(local));
	fill_packed(local);
	scrub();
	GetUnreachableMemory(&info, LIMIT);
	for (i = 0; i < 5; i++)
		say(names[i], is_lost(&info, odd[i]));
	__asm__ volatile("" : : "r"(local) : "memory");
	return answer_status(&info);
}

LIVE void
put_tagged(void *place, uintptr_t hidden, uintptr_t tag)
{
	uintptr_t word = ~hidden | tag;

	memcpy(place, &word, sizeof(word));
}

LIVE void
fill_tagged(void)
{
	size_t i;

	for (i = 0; i < 4; i++)
		tags[i] = block_new(72);
	put(&holder, block_new(72));
	put_tagged(tagged, tags[0], 0xabul << 56);
	put_tagged(tagged + 8, tags[1], 0x1234ul << 48);
	put_tagged((char *)holder + 16, tags[2], 0x80ul << 56);
	put_tagged(tagged + 16, tags[3], 7);
}

static int
tagged_pointers(void)
{
	static const char *const names[] = { "top byte", "top 16 bits",
		"in a block", "low bits" };
	struct UnreachableMemoryInfo info = { 0 };
	size_t i;

	fill_tagged();
	scrub();
	GetUnreachableMemory(&info, LIMIT);
	for (i = 0; i < 4; i++)
		say(names[i], is_lost(&info, tags[i]));
	return answer_status(&info);
}

#if defined(__x86_64__)
static int
callers_register(void)
{
	struct UnreachableMemoryInfo info = { 0 };

	place_block(IN_REGISTER);
	scrub();
	ask_with_rbx(place_blocks[IN_REGISTER], &info, LIMIT);
	say("caller's register", is_lost(&info, place_blocks[IN_REGISTER]));
	return answer_status(&info);
}
#endif

static int
reports(void)
{
	char *text;

	place_block(IN_STACK);
	scrub();
	text = GetUnreachableMemoryString(false, 1);
	printf("%s", text);
	free(text);
	return LogUnreachableMemory(false, 1) ? 0 : 1;
}

static const struct scenario scenarios[] = {
	{ "all_places", all_places },
	{ "packed_pointers", packed_pointers },
	{ "tagged_pointers", tagged_pointers },
#if defined(__x86_64__)
	{ "callers_register", callers_register },
#endif
	{ "reports", reports },
	{ NULL, NULL },
};

static void
ask_with(const char *scenario, const char *options)
{
	child_run(&child, scenario, options);
	child_assert_exit(&child, 0);
	ck_assert_msg(strstr(child.err_text, "MEMUNREACHABLE_OPTIONS") == NULL,
	    "%s", child.err_text);
}

static void
expect_line(const char *line)
{
	char whole[256];

	snprintf(whole, sizeof(whole), "%s\n", line);
	ck_assert_msg(strstr(child.out_text, whole) != NULL,
	    "expected \"%s\" in\n%s%s", line, child.out_text, child.err_text);
}

static void
expect(const char *name, bool lost)
{
	char line[128];

	snprintf(line, sizeof(line), "%s: %s", name, lost ? "lost" : "kept");
	expect_line(line);
}

static const char *const options[] = { "", "use_globals", "use_stacks",
	"use_registers", "use_tls", "use_root_regions" };

/* Every place with every option off: 19 blocks, 6 runs. */
START_TEST(each_option_loses_its_own_places)
{
	char setting[64] = "";
	size_t i;

	if (options[_i][0] != '\0')
		snprintf(setting, sizeof(setting), "%s=0", options[_i]);
	ask_with("all_places", setting);
	for (i = 0; i < NUM_PLACES; i++) {
#if !defined(__x86_64__)
		if (strcmp(places[i].option, "use_registers") == 0)
			continue;
#endif
		expect(places[i].name,
		    options[_i][0] != '\0' &&
			strcmp(places[i].option, options[_i]) == 0);
	}
}
END_TEST

START_TEST(all_options_off)
{
	size_t i;

	ask_with("all_places",
	    "use_globals=0:use_stacks=0:use_registers=0:use_tls=0:"
	    "use_root_regions=0");
#if !defined(__x86_64__)
	return;
#endif
	for (i = 0; i < NUM_PLACES; i++)
		expect(places[i].name, places[i].option[0] != '\0');
	expect_line("status 0 reason <by option: use_globals=0 use_stacks=0"
		    " use_registers=0 use_tls=0 use_root_regions=0>");
}
END_TEST

START_TEST(unaligned_pointers)
{
	static const char *const names[] = { "data", "block", "page end",
		"page begin", "stack" };
	size_t i;

	ask_with("packed_pointers", "");
	expect_line("status 0 reason <>");
	for (i = 0; i < 5; i++)
		expect(names[i], true);
	ask_with("packed_pointers", "use_unaligned=1");
	expect_line("status 0 reason <by option: use_unaligned=1>");
	for (i = 0; i < 5; i++)
		expect(names[i], false);
	ask_with("packed_pointers", "use_unaligned=1:use_stacks=0");
	expect("stack", true);
	expect("data", false);
	/* With it, all that is found without it is found. */
	ask_with("all_places", "use_unaligned=1");
	for (i = 0; i < NUM_PLACES; i++) {
		char lost[128];

		snprintf(lost, sizeof(lost), "%s: lost", places[i].name);
		ck_assert_ptr_null(strstr(child.out_text, lost));
	}
}
END_TEST

START_TEST(pointers_with_tags)
{
	ask_with("tagged_pointers", "");
	expect("top byte", true);
	expect("top 16 bits", true);
	expect("in a block", true);
	expect("low bits", false);
	ask_with("tagged_pointers", "pointer_mask=0x00ffffffffffffff");
	expect_line("status 0 reason <by option: pointer_mask="
		    "0xffffffffffffff>");
	expect("top byte", false);
	expect("top 16 bits", true);
	expect("in a block", false);
	expect("low bits", false);
	ask_with("tagged_pointers", "pointer_mask=281474976710655");
	expect("top byte", false);
	expect("top 16 bits", false);
	expect("in a block", false);
	expect("low bits", false);
}
END_TEST

#if defined(__x86_64__)
/* Frames of the library may have saved it: they are part of the stack. */
START_TEST(registers_of_the_caller)
{
	ask_with("callers_register", "use_stacks=0");
	expect("caller's register", false);
	ask_with("callers_register", "use_stacks=0:use_registers=0");
	expect("caller's register", true);
}
END_TEST
#endif

START_TEST(reports_say_so)
{
	ask_with("reports", "use_tls=0:use_stacks=0:verbosity=2");
	expect_line("  Note: by option: use_stacks=0 use_tls=0");
	ck_assert_ptr_nonnull(
	    strstr(child.err_text, ": by option: use_stacks=0 use_tls=0\n"));
	ask_with("reports", "use_tls=1:verbosity=2");
	ck_assert_ptr_null(strstr(child.out_text, "by option"));
	ck_assert_ptr_null(strstr(child.err_text, "by option"));
}
END_TEST

int
main(int argc, char **argv)
{
	int status = scenario_run(scenarios, argc, argv);
	Suite *suite;
	TCase *tcase;

	if (status >= 0)
		return status;
	suite = suite_create("use_options");
	tcase = tcase_create("use_options");
	tcase_set_timeout(tcase, 240);
	tcase_add_loop_test(tcase, each_option_loses_its_own_places, 0,
	    sizeof(options) / sizeof(*options));
	tcase_add_test(tcase, all_options_off);
	tcase_add_test(tcase, unaligned_pointers);
	tcase_add_test(tcase, pointers_with_tags);
#if defined(__x86_64__)
	tcase_add_test(tcase, registers_of_the_caller);
#endif
	tcase_add_test(tcase, reports_say_so);
	suite_add_tcase(suite, tcase);
	return suite_run(suite);
}
