/*
 * What the program of a play has lost, and who holds on to it after all.
 */
#ifndef TESTS_SUPPORT_ENVIRONMENT_LOSSES_H
#define TESTS_SUPPORT_ENVIRONMENT_LOSSES_H

#include "tests/support/live.h"

#define ENVIRONMENT_LOST 5

static size_t environment_num_lost;
static uintptr_t environment_lost[ENVIRONMENT_LOST]; /* hidden */

LIVE __attribute__((format(printf, 1, 2))) void environment_say(
    const char *format, ...);

LIVE void
environment_lose_hidden(uintptr_t hidden)
{
	if (environment_num_lost < ENVIRONMENT_LOST)
		environment_lost[environment_num_lost++] = hidden;
}

LIVE bool
environment_show_reference(
    void *ctx, const struct MemunreachableReference *reference)
{
	char text[512];

	(void)ctx;
	memunreachable_format_reference(reference, text, sizeof(text));
	environment_say("[%s] ", text);
	return true;
}

/* What holds on to those that were lost and not found? */
LIVE void
environment_explain(const struct UnreachableMemoryInfo *info)
{
	size_t i, j;

	for (i = 0; i < environment_num_lost; i++) {
		for (j = 0; j < info->num_leaks; j++)
			if (info->leaks[j].begin == ~environment_lost[i])
				break;
		if (j < info->num_leaks)
			continue;
		environment_say("lost block %zu: ", i);
		memunreachable_why_reachable(mu_reveal(environment_lost[i]),
		    environment_show_reference, NULL);
	}
}

#endif
