/*
 * Run a fuzzer of tests/fuzz on each of its seeds once, with the usual
 * compiler. The program test_fuzz_NAME has seeds in tests/fuzz/seeds/NAME.
 */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "tests/support/suite.h"

#define PREFIX "test_fuzz_"
#define SEED_MAX (64u << 10)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
run_seed(const char *path)
{
	static uint8_t data[SEED_MAX];
	size_t size;
	FILE *file;

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
	const char *name = strstr(program_invocation_short_name, PREFIX);
	char folder[128], path[PATH_MAX];
	struct dirent *entry;
	size_t count = 0;
	DIR *dir;

	ck_assert_ptr_nonnull(name);
	snprintf(folder, sizeof(folder), "tests/fuzz/seeds/%s",
	    name + strlen(PREFIX));
	dir = opendir(folder);
	ck_assert_msg(dir != NULL, "%s: run from the top folder", folder);
	while ((entry = readdir(dir)) != NULL) {
		if (entry->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
		run_seed(path);
		count++;
	}
	closedir(dir);
	ck_assert_uint_ge(count, 5);
}
