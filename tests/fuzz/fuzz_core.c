/*
 * Any bytes as a core file: no fault, and what is accepted is a sorted
 * snapshot, every view of which can be read.
 */
#include "ptrace/core/snapshot.h"
#include "tests/support/command/made_core.h"
#include "tests/support/fuzz/fuzz_input.h"

#define CORE_MOST (64u << 10)

static unsigned sum; /* used, so that the reads are not removed */

static void
read_view(const struct mu_snapshot *snap, uintptr_t address, size_t size)
{
	const unsigned char *view = mu_snapshot_view(snap, address, size);

	if (view != NULL)
		sum += view[0] + view[size / 2] + view[size - 1];
}

static void
check_mappings(const struct mu_snapshot *snap)
{
	const struct mu_mapping *mapping = snap->mappings;
	size_t i, size;

	for (i = 0; i < snap->num_mappings; i++, mapping++) {
		require(mapping->range.begin < mapping->range.end);
		require(
		    i == 0 || mapping[-1].range.end <= mapping->range.begin);
		sum += (unsigned)strlen(mapping->name);
		size = mu_range_size(mapping->range);
		read_view(snap, mapping->range.begin, size);
		read_view(snap, mapping->range.end - 1, 1);
		read_view(snap, mapping->range.begin, size + 1);
		read_view(snap, mapping->range.begin + 9, size);
	}
}

/* Populated ranges can be read and are in order. */
static void
check_populated(struct mu_snapshot *snap)
{
	struct mu_range rest = { 0, UINTPTR_MAX }, part;

	while (snap->memory.ops->populated(&snap->memory, rest, &part)) {
		require(part.begin >= rest.begin && part.begin < part.end);
		require(mu_snapshot_view(
			    snap, part.begin, mu_range_size(part)) != NULL);
		read_view(snap, part.begin, mu_range_size(part));
		rest.begin = part.end;
	}
}

static void
check_values(const struct mu_snapshot *snap)
{
	size_t i, values = 0;

	for (i = 0; i < snap->num_threads; i++) {
		require(snap->threads[i].first_value == values);
		values += snap->threads[i].num_values;
	}
	require(values == snap->num_values);
	for (i = 0; i < values; i++)
		sum += (unsigned)snap->values[i] + snap->regnos[i];
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct mu_snapshot_core core;
	struct mu_snapshot snap;
	struct mu_why why = { .text = "" };
	struct mu_arena arena;
	enum mu_status status;
	char *copy;

	if (size > CORE_MOST)
		return 0;
	/* A separate copy, so that a read past its end is detected. */
	copy = malloc(size + 1);
	require(copy != NULL);
	memcpy(copy, data, size);
	mu_arena_open(&arena, (size_t)64 << 20);
	status = core_in_memory(&snap, &core, copy, size, &arena, &why);
	if (status == MU_OK || status == MU_PARTIAL) {
		check_mappings(&snap);
		check_populated(&snap);
		check_values(&snap);
		mu_snapshot_core_unlock(&core, &snap);
		check_populated(&snap);
	} else {
		require(
		    status == MU_ERR_ARGUMENT || status == MU_ERR_NO_MEMORY);
	}
	require((status == MU_OK) == (why.text[0] == '\0'));
	mu_snapshot_core_close(&core);
	mu_arena_close(&arena);
	free(copy);
	return 0;
}
