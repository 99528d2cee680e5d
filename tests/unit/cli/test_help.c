/*
 * --help, memunreachable(1) and the completions name every option, and --help
 * no other.
 */
#include "lib/cli/flags.h"
#include "lib/cli/options.h"
#include "tests/support/suite.h"

static char *
help_text(bool whole)
{
	char *text = NULL;
	size_t length;
	FILE *out = open_memstream(&text, &length);

	mu_cli_help(out, whole);
	fclose(out);
	return text;
}

static char *
file_text(const char *path)
{
	FILE *file = fopen(path, "r");
	char *text = calloc(1, 1 << 16);

	ck_assert_msg(file != NULL && text != NULL,
	    "%s cannot be read: run this from the project's root", path);
	ck_assert_uint_gt(fread(text, 1, (1 << 16) - 1, file), 0);
	fclose(file);
	return text;
}

/* TEXT has PREFIX and NAME, and there NAME ends. */
static bool
names(const char *text, const char *prefix, const char *name)
{
	char whole[64];
	const char *at = text;

	snprintf(whole, sizeof(whole), "%s%s", prefix, name);
	while ((at = strstr(at, whole)) != NULL) {
		at += strlen(whole);
		if (strchr("-abcdefghijklmnopqrstuvwxyz", *at) == NULL)
			return true;
	}
	return false;
}

TEST(every_option_is_told)
{
	char *help = help_text(true);
	char *manual = file_text("man/memunreachable.1");
	char *bash = file_text("lib/cli/completion/memunreachable.bash");
	char *zsh = file_text("lib/cli/completion/_memunreachable");
	char *fish = file_text("lib/cli/completion/memunreachable.fish");
	const char *name;
	size_t i;

	for (i = 0; (name = mu_cli_flags[i].name) != NULL; i++) {
		ck_assert_msg(names(help, " --", name), "help: %s", name);
		ck_assert_msg(names(manual, "Fl Fl ", name), "1: %s", name);
		ck_assert_msg(names(bash, "--", name), "bash: %s", name);
		ck_assert_msg(names(zsh, "--", name), "zsh: %s", name);
		ck_assert_msg(names(fish, "-l ", name), "fish: %s", name);
	}
	ck_assert_uint_gt(i, 15);
	free(help);
	free(manual);
	free(bash);
	free(zsh);
	free(fish);
}

static bool
is_option(const char *name, size_t length)
{
	const char *known;
	size_t i;

	for (i = 0; (known = mu_cli_flags[i].name) != NULL; i++) {
		if (strlen(known) == length &&
		    strncmp(known, name, length) == 0)
			return true;
	}
	return false;
}

TEST(no_other_is)
{
	char *help = help_text(true), *at = help;
	size_t length;

	while ((at = strstr(at, " --")) != NULL) {
		at += strlen(" --");
		length = strspn(at, "-abcdefghijklmnopqrstuvwxyz");
		ck_assert_msg(length == 0 || is_option(at, length), "%.*s",
		    (int)length, at);
	}
	free(help);
}

/* Two screens. */
TEST(first_is_short)
{
	char *help = help_text(false), *line = help, *end;
	size_t lines = 0, length;

	for (; (end = strchr(line, '\n')) != NULL; line = end + 1, lines++)
		ck_assert_msg(end - line < 80, "%.*s", (int)(end - line), line);
	ck_assert_uint_le(lines, 48);
	for (line = help; (line = strstr(line, " --")) != NULL;) {
		line += strlen(" --");
		length = strspn(line, "-abcdefghijklmnopqrstuvwxyz");
		ck_assert_msg(length == 0 || is_option(line, length), "%.*s",
		    (int)length, line);
	}
	free(help);
}

TEST(fits_a_terminal)
{
	char *help = help_text(true), *line = help, *end;

	for (; (end = strchr(line, '\n')) != NULL; line = end + 1)
		ck_assert_msg(end - line < 80, "%.*s", (int)(end - line), line);
	ck_assert_str_eq(line, "");
	free(help);
}
