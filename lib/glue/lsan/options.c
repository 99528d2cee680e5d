/*
 * LSAN_OPTIONS. What the library has by the same name becomes an option of the
 * library, by memunreachable_default_options().
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/glue/lsan/lsan.h"
#include "memunreachable/memunreachable.h"

#define SEPARATORS ":, \t\n" /* sanitizer_flag_parser.cpp */
#define TEXT 8192

__attribute__((weak, visibility("default"))) const char *__lsan_default_options(
    void);

__attribute__((weak)) const char *
__lsan_default_options(void)
{
	return "";
}

/*
 * The end of a value, which may be between quotation marks; *VALUE is moved
 * behind the first.
 */
static char *
value_end(char **value)
{
	char quote = **value == '\'' || **value == '"' ? *(*value)++ : '\0';

	return *value +
	    (quote != '\0' ? strcspn(*value, (char[]) { quote, '\0' })
			   : strcspn(*value, SEPARATORS));
}

/* Call EACH with every pair; the environment comes last, and wins. */
static void
each_option(
    void (*each)(void *ctx, const char *key, const char *value), void *ctx)
{
	const char *given = secure_getenv("LSAN_OPTIONS");
	const char *own = __lsan_default_options();
	char text[TEXT], *key = text, *value, *end, *rest;

	snprintf(text, sizeof(text), "%s:%s", own != NULL ? own : "",
	    given != NULL ? given : "");
	while (*(key += strspn(key, SEPARATORS)) != '\0') {
		value = key + strcspn(key, "=" SEPARATORS);
		if (*value != '=') {
			key = value;
			continue;
		}
		*value++ = '\0';
		end = value_end(&value);
		rest = *end == '\0' ? end : end + 1;
		*end = '\0';
		each(ctx, key, value);
		key = rest;
	}
}

static bool
is_true(const char *value)
{
	return strcmp(value, "1") == 0 || strcmp(value, "true") == 0 ||
	    strcmp(value, "yes") == 0;
}

/* Options of the library by the same name. */
static const char *const same[] = { "use_globals", "use_stacks",
	"use_registers", "use_tls", "use_root_regions", "use_unaligned" };

#define NUM_SAME (sizeof(same) / sizeof(*same))

enum kind { FLAG, STATUS, COUNT, PATH };

#define OPTION(kind, name, words)                                       \
	{                                                               \
#name, kind, offsetof(struct lsan_options, name), words \
	}

static const struct option {
	const char *name;
	enum kind kind;
	size_t at;
	const char *words;
} table[] = {
	OPTION(FLAG, detect_leaks, "check for leaks"),
	OPTION(FLAG, leak_check_at_exit, "check when the program ends"),
	OPTION(FLAG, print_suppressions, "tell which ones matched"),
	OPTION(FLAG, report_objects, "list the address of each block"),
	OPTION(FLAG, help, "list the options"),
	OPTION(STATUS, exitcode, "exit status if there are leaks"),
	OPTION(COUNT, max_leaks, "groups to report; 0: all"),
	OPTION(PATH, suppressions, "a file of lines leak:PATTERN"),
	OPTION(PATH, log_path, "report to the file LOG_PATH.PID"),
};

#define NUM_OPTIONS (sizeof(table) / sizeof(*table))

static void
take(void *ctx, const char *key, const char *value)
{
	const struct option *option = table;
	char *at;

	while (option < table + NUM_OPTIONS && strcmp(key, option->name) != 0)
		option++;
	if (option == table + NUM_OPTIONS)
		return;
	at = (char *)ctx + option->at;
	if (option->kind == FLAG)
		*(bool *)at = is_true(value);
	else if (option->kind == STATUS)
		*(int *)at = atoi(value);
	else if (option->kind == COUNT)
		*(size_t *)at = strtoul(value, NULL, 10);
	else
		snprintf(at, LSAN_PATH, "%s", value);
}

static void
print_option(const struct lsan_options *options, const struct option *option)
{
	const char *at = (const char *)options + option->at;

	fprintf(stderr, "\t%s\n\t\t- %s (current value: ", option->name,
	    option->words);
	if (option->kind == FLAG)
		fputs(*(const bool *)at ? "true" : "false", stderr);
	else if (option->kind == STATUS)
		fprintf(stderr, "%d", *(const int *)at);
	else if (option->kind == COUNT)
		fprintf(stderr, "%zu", *(const size_t *)at);
	else
		fputs(at, stderr);
	fputs(")\n", stderr);
}

void
lsan_options_print(const struct lsan_options *options)
{
	size_t i;

	fputs("Available flags for LeakSanitizer:\n", stderr);
	for (i = 0; i < NUM_OPTIONS; i++)
		print_option(options, &table[i]);
	for (i = 0; i < NUM_SAME; i++)
		fprintf(stderr, "\t%s\n\t\t- see memunreachable(7)\n", same[i]);
}

void
lsan_options_read(struct lsan_options *options)
{
	*options = (struct lsan_options) {
		.detect_leaks = true,
		.leak_check_at_exit = true,
		.print_suppressions = true,
		.exitcode = 23,
	};
	each_option(take, options);
}

static void
translate(void *ctx, const char *key, const char *value)
{
	char *text = ctx;
	size_t i, length = strlen(text);

	for (i = 0; i < NUM_SAME; i++)
		if (strcmp(key, same[i]) == 0)
			snprintf(text + length, TEXT - length, "%s%s=%d",
			    length > 0 ? ":" : "", key, is_true(value));
}

__attribute__((visibility("default"))) const char *
memunreachable_default_options(void)
{
	static char text[TEXT];

	text[0] = '\0';
	each_option(translate, text);
	return text;
}
