/*
 * The recorder runs out of address space, and the program, which does not,
 * continues. The argument is what RLIMIT_AS leaves, in MiB.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "tests/recorder/recorded_read.h"

#define BLOCKS 200

static size_t
used_bytes(void)
{
	char line[64] = "";
	FILE *file = fopen("/proc/self/statm", "r");

	if (file == NULL || fgets(line, sizeof(line), file) == NULL)
		exit(2);
	fclose(file);
	return strtoul(line, NULL, 10) * 4096;
}

int
main(int argc, char **argv)
{
	size_t left = (argc > 1 ? strtoul(argv[1], NULL, 10) : 6) << 20, i;
	void *blocks[BLOCKS], *before = malloc(100);
	struct rlimit limit;

	limit.rlim_cur = limit.rlim_max = used_bytes() + left;
	setrlimit(RLIMIT_AS, &limit);
	/* 128 KiB and more are mapped apart, in spans that have no words yet.
	 */
	for (i = 0; i < BLOCKS; i++) {
		blocks[i] = malloc(i % 2 == 0 ? 200000 : 30);
		if (blocks[i] != NULL)
			memset(blocks[i], 3, 30);
		if (i % 3 == 0)
			blocks[i] = realloc(blocks[i], 50);
	}
	for (i = 0; i < BLOCKS; i++)
		free(blocks[i]);
	free(before);
	if (recorded() == NULL)
		return 1;
	printf("stopped: %d\n", (recorded()->flags & MU_RECORDED_STOPPED) != 0);
	return 0;
}
