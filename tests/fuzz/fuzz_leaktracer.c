/*
 * Any bytes as a report of LeakTracer: no fault, sums that agree, and text that
 * is safe for a terminal.
 */
#include "tests/support/command/view_symbols.h"

#include "lib/view/leaktracer_file.h"
#include "lib/view/leaktracer_text.h"
#include "lib/view/saturate.h"
#include "tests/support/fuzz/fuzz_input.h"

#define REPORT_MOST (64u << 10)

static void
check_groups(struct mu_leak_groups *groups, size_t num_leaks)
{
	uint64_t bytes = 0, blocks = 0, last = UINT64_MAX;
	struct mu_record group;
	size_t count = 0;

	mu_sorter_begin(&groups->sorted);
	while (mu_leak_groups_next(groups, &group)) {
		require(last >= group.bytes);
		last = group.bytes;
		bytes = mu_saturated_add(bytes, group.bytes);
		blocks += group.count;
		count++;
	}
	require(bytes == groups->bytes && blocks == groups->blocks);
	require(blocks == num_leaks && count == groups->count);
}

static void
check_words(const struct mu_leaktracer_view *view)
{
	char *text = NULL, *p;
	size_t length;
	FILE *out = open_memstream(&text, &length);

	mu_leaktracer_text(out, view);
	fclose(out);
	require(length == strlen(text));
	for (p = text; *p != '\0'; p++)
		require(*p == '\n' || *p == '\t' || (unsigned char)*p >= 0x20);
	free(text);
}

static void
check_report(struct mu_leaktracer *file)
{
	struct mu_location_source source = { .modules = &file->modules };
	struct mu_notes notes = { 0 };
	struct mu_frames frames = { 0 };
	/* Most reports do not fit. */
	struct mu_leak_groups groups = {
		.leaks.room = 2 * MU_SORTER_KEY_MAX,
		.sorted.room = 2 * MU_SORTER_KEY_MAX,
	};
	struct mu_record record;
	struct mu_why why;
	struct mu_leaktracer_view view = { .path = "leaks.out",
		.groups = &groups,
		.frames = &frames,
		.notes = &notes,
		.limit = 10 };
	struct mu_locations names;

	mu_module_table_seal(&file->modules);
	mu_locations_open(&names, &source, &notes);
	require(mu_frames_add(&frames, &file->addresses, 0, &names));
	require(mu_frames_number(&frames));
	mu_sorter_begin(&file->leaks);
	while (mu_leaktracer_next(file, &record)) {
		mu_frames_replace(&frames, 0, &record);
		require(mu_leak_groups_add(&groups, &record));
	}
	require(mu_leak_groups_make(&groups, &why) == MU_OK);
	check_groups(&groups, file->num_leaks);
	check_words(&view);
	mu_leak_groups_release(&groups);
	mu_frames_release(&frames);
	mu_locations_close(&names);
	mu_notes_release(&notes);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct mu_leaktracer file;
	struct mu_why why = { .text = "" };
	enum mu_status status;
	char *text;

	if (size > REPORT_MOST)
		return 0;
	text = malloc(size + 1);
	require(text != NULL);
	memcpy(text, data, size);
	text[size] = '\0';
	mu_leaktracer_begin(&file);
	file.leaks.room = 2 * MU_SORTER_KEY_MAX;
	mu_leaktracer_take(&file, text, size, true);
	status = mu_leaktracer_end(&file, &why);
	require((status == MU_OK) == (why.text[0] == '\0'));
	if (status == MU_OK || status == MU_PARTIAL)
		check_report(&file);
	else
		require(status == MU_ERR_ARGUMENT);
	mu_leaktracer_release(&file);
	free(text);
	return 0;
}
