/*
 * The maps parser on any text: no fault, and what it accepts is sorted,
 * complete and without overlaps.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "ptrace/live/mappings.h"

#define TEXT_MAX (64u << 10)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
require(int holds)
{
	if (!holds)
		abort();
}

static size_t
count_newlines(const uint8_t *data, size_t size)
{
	size_t i, lines = 0;

	for (i = 0; i < size; i++)
		lines += data[i] == '\n';
	return lines;
}

static void
check_mappings(const struct mu_mapping *maps, size_t count, size_t size)
{
	size_t i, names = 0;

	for (i = 0; i < count; i++) {
		require(maps[i].range.begin < maps[i].range.end);
		require(i == 0 || maps[i - 1].range.end <= maps[i].range.begin);
		require(maps[i].name != NULL);
		names += strlen(maps[i].name);
	}
	require(names <= size);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct mu_mapping *maps = NULL;
	struct mu_why why = { .text = "" };
	struct mu_arena arena;
	enum mu_status status;
	size_t count = 0;

	if (size > TEXT_MAX)
		return 0;
	mu_arena_open(&arena, (size_t)64 << 20);
	status = mu_mappings_parse(
	    (const char *)data, size, &maps, &count, &arena, &why);
	require(status == MU_OK || status == MU_ERR_NO_PROC);
	if (status == MU_OK) {
		require(count == count_newlines(data, size));
		check_mappings(maps, count, size);
	} else {
		require(maps == NULL && why.text[0] != '\0');
	}
	mu_arena_close(&arena);
	return 0;
}
