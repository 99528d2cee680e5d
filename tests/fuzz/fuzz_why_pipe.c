/*
 * The reader of references on any bytes: an accepted answer names only threads
 * and mappings that exist and can be written as text; a refused one leaves
 * nothing behind.
 *
 * Input: flags, the pipe's bytes. With MENDED what the header begins with is
 * put right; with KINDLY the entries' numbers are brought into their ranges.
 */
#include "lib/report/reference_text.h"
#include "lib/state/library.h"
#include "mu/arch/register_names.h"
#include "tests/support/fuzz/fuzz_pipe.h"

#define KINDLY 2

static struct mu_thread threads[2] = { { .tid = 11 }, { .tid = 12 } };
static struct mu_mapping mappings[3] = {
	{ .range = { 0x1000, 0x2000 }, .name = "/usr/bin/a program" },
	{ .range = { 0x2000, 0x3000 }, .name = "" },
	{ .range = { 0x3000, 0x4000 }, .name = "[stack]" },
};

static void
mend_entries(uint8_t *bytes, size_t size)
{
	struct mu_referrer entry;

	for (; size >= sizeof(entry);
	     size -= sizeof(entry), bytes += sizeof(entry)) {
		memcpy(&entry, bytes, sizeof(entry));
		entry.kind =
		    MU_REFERRER_GLOBAL + entry.kind % (MU_REFERRER_KINDS - 1);
		entry.thread =
		    entry.thread % 3 == 2 ? MU_NO_INDEX : entry.thread % 3;
		entry.mapping =
		    entry.mapping % 4 == 3 ? MU_NO_INDEX : entry.mapping % 4;
		entry.regno %= MU_REGNO_END + 1;
		entry.reachable &= 1;
		memcpy(bytes, &entry, sizeof(entry));
	}
}

static void
check_reference(const struct MemunreachableReference *reference)
{
	char line[300];
	struct mu_text text = { line, sizeof(line), 0 };
	size_t i;

	require(memchr(reference->name, '\0', sizeof(reference->name)) != NULL);
	require(reference->thread == 0 || reference->thread == 11 ||
	    reference->thread == 12);
	for (i = 0; i < 3; i++)
		if (strcmp(reference->path, mappings[i].name) == 0)
			break;
	require(i < 3);
	mu_report_reference(&text, reference);
}

static void
receive(struct mu_image *image, struct mu_references *references)
{
	struct UnreachableMemoryInfo info = { 0 };
	struct mu_result result = { .num_more = 0 };
	enum mu_status status =
	    mu_why_pipe_receive(image, references, &result, &info);
	size_t i;

	require((unsigned)status < MU_STATUS_COUNT);
	require(memchr(image->job.why.text, '\0',
		    sizeof(image->job.why.text)) != NULL);
	if (status == MU_OK || status == MU_PARTIAL) {
		require(references->count <= references->total);
		for (i = 0; i < references->count; i++)
			check_reference(&references->items[i]);
	} else {
		require(references->items == NULL && references->count == 0);
	}
	mu_references_drop(references);
	require(references->items == NULL && references->total == 0);
	require(mu_library.results.first == NULL);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input input = { data, size };
	unsigned flags = (unsigned)fuzz_take(&input, 1);
	struct mu_references references = { .hidden = 77 };
	struct mu_image image = { .snap = { .threads = threads,
				      .num_threads = 2,
				      .mappings = mappings,
				      .num_mappings = 3 } };

	if (input.size > FUZZ_PIPE_MAX)
		return 0;
	fuzz_pipe_open(&image, &input, MU_PIPE_REFERENCES, flags,
	    (flags & KINDLY) != 0 ? mend_entries : NULL);
	receive(&image, &references);
	sweeper_pipe_close(&image, -1);
	return 0;
}
