#include "lib/cli/misspelt.h"

#include <string.h>

#include "lib/cli/flags.h"
#include "lib/term/safe_text.h"
#include "mu/text.h"

#define NAME_MOST 32 /* bytes of an option's name */

/*
 * How many letters have to be added, removed or replaced, or to change places
 * with the next one, to make B of the first LENGTH bytes of A.
 */
static size_t
distance(const char *a, size_t length, const char *b)
{
	size_t rows[3][NAME_MOST + 1] = { { 0 } }, i, j;
	size_t *row = rows[0], *last = rows[1], *before = rows[2], *spare;

	for (j = 0; j <= strlen(b); j++)
		row[j] = j;
	for (i = 1; i <= length; i++) {
		spare = before;
		before = last;
		last = row;
		row = spare;
		row[0] = i;
		for (j = 1; j <= strlen(b); j++) {
			row[j] = last[j - 1] + (a[i - 1] != b[j - 1]);
			if (last[j] + 1 < row[j])
				row[j] = last[j] + 1;
			if (row[j - 1] + 1 < row[j])
				row[j] = row[j - 1] + 1;
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] &&
			    a[i - 2] == b[j - 1] && before[j - 2] + 1 < row[j])
				row[j] = before[j - 2] + 1;
		}
	}
	return row[strlen(b)];
}

/* The option that NAME, of LENGTH bytes, may be meant to be; or NULL. */
static const char *
nearest(const char *name, size_t length)
{
	size_t i, least = length / 3 + 1, at;
	const char *found = NULL;

	if (length < 2 || length > NAME_MOST)
		return NULL;
	for (i = 0; i < MU_CLI_NUM_FLAGS; i++) {
		at = distance(name, length, mu_cli_flags[i].name);
		if (at < least) {
			least = at;
			found = mu_cli_flags[i].name;
		}
	}
	return found;
}

enum mu_status
mu_cli_misspelt(const char *argument, struct mu_why *why)
{
	size_t i, length = strcspn(argument + 2, "=");
	char list[128] = "";
	struct mu_text text = { list, sizeof(list), 0 };
	const char *near;

	for (i = 0; i < MU_CLI_NUM_FLAGS; i++) {
		if (strncmp(mu_cli_flags[i].name, argument + 2, length) == 0)
			mu_text_add(&text, "%s--%s",
			    text.length > 0 ? ", " : "", mu_cli_flags[i].name);
	}
	if (text.length == 0) {
		near = nearest(argument + 2, length);
		return mu_why(why, MU_ERR_ARGUMENT,
		    near == NULL ? "no such option: %s"
				 : "no such option: %s" MU_CURE
				   "did you mean --%s?",
		    mu_safe_argument(argument).text, near);
	}
	return mu_why(why, MU_ERR_ARGUMENT, "%s could be %s",
	    mu_safe_argument(argument).text, list);
}
