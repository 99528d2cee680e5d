/*
 * Loses PLANTED blocks in the given flavour of work and prints how many are
 * found, and by what: see planted.sh.
 *
 * Usage: victim_planted FLAVOUR SEED
 */
#include "tests/support/pass/planting.h"

int
main(int argc, char **argv)
{
	const struct planting_flavour *flavour;
	size_t i;
	int status;

	flavour = argc == 3 ? planting_flavour(argv[1]) : NULL;
	if (flavour == NULL) {
		for (i = 0; i < PLANTING_FLAVOURS; i++)
			printf("%s\n", planting_flavours[i].name);
		return 2;
	}
	planting_begin(flavour, (unsigned)atoi(argv[2]));
	scrub_stack();
	status = planted_ask();
	planting_end(flavour);
	return status;
}
