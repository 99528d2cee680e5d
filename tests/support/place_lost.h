/*
 * What the program of a play has lost, and who holds on to it after all.
 */
#ifndef TESTS_SUPPORT_PLACE_LOST_H
#define TESTS_SUPPORT_PLACE_LOST_H

#include "tests/support/live.h"

#define PLACE_LOST 5

static size_t place_num_lost;
static uintptr_t place_lost[PLACE_LOST]; /* hidden */

LIVE __attribute__((format(printf, 1, 2))) void place_say(
    const char *format, ...);

LIVE void
place_lose_hidden(uintptr_t hidden)
{
	if (place_num_lost < PLACE_LOST)
		place_lost[place_num_lost++] = hidden;
}

LIVE bool
place_show_reference(void *ctx, const struct MemunreachableReference *reference)
{
	char text[512];

	(void)ctx;
	memunreachable_format_reference(reference, text, sizeof(text));
	place_say("[%s] ", text);
	return true;
}

/* What holds on to those that were lost and not found? */
LIVE void
place_explain(const struct UnreachableMemoryInfo *info)
{
	size_t i, j;

	for (i = 0; i < place_num_lost; i++) {
		for (j = 0; j < info->num_leaks; j++)
			if (info->leaks[j].begin == ~place_lost[i])
				break;
		if (j < info->num_leaks)
			continue;
		place_say("lost block %zu: ", i);
		memunreachable_why_reachable(
		    mu_reveal(place_lost[i]), place_show_reference, NULL);
	}
}

#endif
