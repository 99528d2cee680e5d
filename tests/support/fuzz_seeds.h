/*
 * Run a fuzzer of tests/fuzz as a test: each of its seeds once, with the usual
 * compiler. The program whose name is in FUZZ_NAME includes it after the
 * fuzzer's source.
 */
#ifndef TESTS_SUPPORT_FUZZ_SEEDS_H
#define TESTS_SUPPORT_FUZZ_SEEDS_H

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/support/suite.h"

#define SEEDS "tests/fuzz/seeds/" FUZZ_NAME
#define SEED_MAX (64u << 10)

static void
run_seed(const char *name)
{
	static uint8_t data[SEED_MAX];
	char path[512];
	size_t size;
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", SEEDS, name);
	file = fopen(path, "rb");
	ck_assert_msg(file != NULL, "%s", path);
	size = fread(data, 1, sizeof(data), file);
	fclose(file);
	/* What a crash leaves in the log. */
	fprintf(stderr, "%s\n", path);
	LLVMFuzzerTestOneInput(data, size);
}

TEST(seeds)
{
	struct dirent *entry;
	size_t count = 0;
	DIR *dir = opendir(SEEDS);

	ck_assert_msg(dir != NULL, "%s: run from the top folder", SEEDS);
	while ((entry = readdir(dir)) != NULL) {
		if (entry->d_name[0] == '.')
			continue;
		run_seed(entry->d_name);
		count++;
	}
	closedir(dir);
	ck_assert_uint_ge(count, 5);
}

#endif
