/* The address ranges of the recorder's code in this process. */
#ifndef TESTS_RECORDER_STATEMENTS_OWN_H
#define TESTS_RECORDER_STATEMENTS_OWN_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

struct own_code {
	uintptr_t from, to;
};

static inline struct own_code
own_code_find(void)
{
	struct own_code own = { 0, 0 };
	unsigned long from, to;
	char line[4096];
	FILE *maps = fopen("/proc/self/maps", "re");

	while (maps != NULL && fgets(line, sizeof(line), maps) != NULL) {
		if (strstr(line, "libmemunreachable-malloc-debug") == NULL ||
		    sscanf(line, "%lx-%lx r-xp", &from, &to) != 2)
			continue;
		if (strstr(line, " r-xp ") != NULL) {
			own.from = from;
			own.to = to;
		}
	}
	if (maps != NULL)
		fclose(maps);
	return own;
}

static inline bool
own_code_has(const struct own_code *own, uintptr_t pc)
{
	return pc >= own->from && pc < own->to;
}

#endif
