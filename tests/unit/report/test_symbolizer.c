/*
 * lib/report/symbolizer*.c: which command is started, its arguments and
 * environment, and that all text passes through it.
 */
#include <sys/stat.h>

#include "lib/report/symbolizer.h"
#include "tests/support/suite.h"

#define FRAME "  #00  pc 0000000000000001  /x\n"

static char folder[] = "/tmp/test_symbolizer.XXXXXX", name[128];
static struct mu_symbolizer symbolizer;

static void
stand_in(const char *script)
{
	FILE *file = fopen(name, "w");

	ck_assert_ptr_nonnull(file);
	fprintf(file, "#!/bin/sh\n%s\n", script);
	fclose(file);
	ck_assert_int_eq(chmod(name, 0755), 0);
}

static void
setup(void)
{
	strcpy(strrchr(folder, '.'), ".XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(folder));
	snprintf(name, sizeof(name), "%s/memunreachable", folder);
	setenv("PATH", folder, 1);
	symbolizer = (struct mu_symbolizer) { .path = NULL };
}

static void
teardown(void)
{
	unlink(name);
	rmdir(name);
	rmdir(folder);
}

TEST(no_command)
{
	char path[300];

	ck_assert(!mu_symbolizer_open(&symbolizer));
	ck_assert_int_eq(mkdir(name, 0755), 0);
	ck_assert(!mu_symbolizer_open(&symbolizer));
	rmdir(name);
	stand_in("cat");
	chmod(name, 0644);
	ck_assert(geteuid() == 0 || !mu_symbolizer_open(&symbolizer));
	chmod(name, 0755);
	/* Not where the program happens to be. */
	ck_assert_int_eq(chdir(folder), 0);
	setenv("PATH", ".::", 1);
	ck_assert(!mu_symbolizer_open(&symbolizer));
	unsetenv("PATH");
	ck_assert(!mu_symbolizer_open(&symbolizer));
	ck_assert_ptr_null(symbolizer.path);
	snprintf(path, sizeof(path), ".:/no/such::%s:/bin", folder);
	setenv("PATH", path, 1);
	ck_assert(mu_symbolizer_open(&symbolizer));
	ck_assert_str_eq(symbolizer.path, name);
	ck_assert_int_eq(chdir("/"), 0);
}

static bool
gets(const char *begin)
{
	char **entry;

	for (entry = symbolizer.environment; *entry != NULL; entry++) {
		if (strncmp(*entry, begin, strlen(begin)) == 0)
			return true;
	}
	return false;
}

TEST(environment)
{
	static const char *const out[] = { "LD_PRELOAD",
		"LIBC_DEBUG_MALLOC_OPTIONS", "MEMUNREACHABLE_OPTIONS",
		"MEMUNREACHABLE_MALLOC_DEBUG", "LEAKTRACER_ONSTART_STARTALL",
		"DEBUGINFOD_URLS" };
	size_t i;

	for (i = 0; i < sizeof(out) / sizeof(*out); i++)
		setenv(out[i], "", 1);
	setenv("LD_LIBRARY_PATH", "/a", 1);
	setenv("A_LAST_ONE", "b", 1);
	stand_in("cat");
	ck_assert(mu_symbolizer_open(&symbolizer));
	for (i = 0; i < sizeof(out) / sizeof(*out); i++)
		ck_assert_msg(!gets(out[i]), "%s", out[i]);
	setenv("A_LAST_ONE", "c", 1);
	ck_assert(gets("LD_LIBRARY_PATH=/a") && gets("A_LAST_ONE=b"));
	unsetenv("LD_PRELOAD");
}

TEST(whole_text)
{
	const size_t size = (size_t)5 << 20;
	char *text = malloc(size);
	struct mu_symbolized out;
	size_t i;

	stand_in("exec cat");
	setenv("PATH", "/bin:/usr/bin", 1);
	symbolizer = (struct mu_symbolizer) {
		.path = name,
		.environment = environ,
	};
	for (i = 0; i < size; i++)
		text[i] = (char)(i * 7 >> 3);
	memcpy(text, FRAME, sizeof(FRAME) - 1);
	ck_assert(mu_symbolizer_run(&symbolizer, text, size, &out));
	ck_assert_uint_eq(out.length, size);
	ck_assert_int_eq(memcmp(out.text, text, size), 0);
	mu_symbolized_release(&out);
	free(text);
}

/* The last bytes may come before or after the end of who wrote them. */
TEST(end_at_any_moment)
{
	struct mu_symbolized out;
	int i;

	symbolizer = (struct mu_symbolizer) {
		.path = name,
		.environment = environ,
	};
	stand_in("while read -r line; do echo \"$line\"; done");
	for (i = 0; i < 300; i++) {
		ck_assert(mu_symbolizer_run(
		    &symbolizer, FRAME, sizeof(FRAME) - 1, &out));
		ck_assert_uint_eq(out.length, sizeof(FRAME) - 3);
		mu_symbolized_release(&out);
	}
}

TEST(failures_are_told_once)
{
	static const char *const scripts[] = { "exit 1", "kill -9 $$",
		"cat; exit 1", "exec 0<&- 1>&-; false" };
	struct mu_symbolized out;
	size_t i;

	setenv("PATH", "/bin:/usr/bin", 1);
	symbolizer = (struct mu_symbolizer) {
		.path = name,
		.environment = environ,
	};
	for (i = 0; i < sizeof(scripts) / sizeof(*scripts); i++) {
		stand_in(scripts[i]);
		symbolizer.told = 0;
		ck_assert(!mu_symbolizer_run(
		    &symbolizer, FRAME, sizeof(FRAME) - 1, &out));
		ck_assert_ptr_nonnull(out.why);
		ck_assert(!mu_symbolizer_run(
		    &symbolizer, FRAME, sizeof(FRAME) - 1, &out));
		ck_assert_ptr_null(out.why);
		ck_assert_ptr_null(out.text);
	}
}

/* No process is started; there is no command. */
TEST(no_frames)
{
	static const char *const texts[] = { "", "#", "#00", "#00  pc", "# 00",
		"  24 bytes unreachable at 1\n", "#x  pc 1" };
	struct mu_symbolized out;
	size_t i;

	symbolizer = (struct mu_symbolizer) { .path = "/no/such",
		.environment = environ };
	for (i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		ck_assert(!mu_symbolizer_run(
		    &symbolizer, texts[i], strlen(texts[i]), &out));
		ck_assert_ptr_null(out.why);
	}
	ck_assert(
	    !mu_symbolizer_run(&symbolizer, FRAME, sizeof(FRAME) - 1, &out));
	ck_assert_ptr_nonnull(out.why);
}

SUITE(.setup = setup, .teardown = teardown);
