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
check_groups(
    const struct mu_leak_groups *groups, const struct mu_records *records)
{
	uint64_t bytes = 0, blocks = 0;
	size_t i;

	for (i = 0; i < groups->count; i++) {
		require(i == 0 ||
		    groups->list[i - 1].bytes >= groups->list[i].bytes);
		bytes = mu_saturated_add(bytes, groups->list[i].bytes);
		blocks += groups->list[i].blocks;
	}
	require(bytes == groups->bytes && blocks == groups->blocks);
	require(blocks == records->count);
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
	struct mu_leak_groups groups;
	struct mu_leaktracer_view view = { .path = "leaks.out",
		.groups = &groups,
		.frames = &frames,
		.notes = &notes,
		.limit = 10 };
	struct mu_locations names;

	mu_module_table_seal(&file->modules);
	mu_locations_open(&names, &source, &notes);
	require(mu_frames_replace(&frames, &file->records, &names));
	require(mu_leak_groups_make(&groups, &file->records));
	check_groups(&groups, &file->records);
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
	status = mu_leaktracer_parse(&file, text, size, &why);
	require((status == MU_OK) == (why.text[0] == '\0'));
	if (status == MU_OK || status == MU_PARTIAL)
		check_report(&file);
	else
		require(status == MU_ERR_ARGUMENT);
	mu_leaktracer_release(&file);
	free(text);
	return 0;
}
