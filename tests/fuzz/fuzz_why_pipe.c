/*
 * The reader of references on any bytes: an accepted answer names only threads
 * and mappings that exist and can be written as text; a refused one leaves
 * nothing behind.
 *
 * Input: flags, the pipe's bytes. With MENDED what the header begins with is
 * put right; with KINDLY the entries' numbers are brought into their ranges.
 */
#include <unistd.h>

#include "lib/pipe/why_pipe.h"
#include "lib/report/reference_text.h"
#include "lib/state/library.h"
#include "mu/arch/register_names.h"
#include "mu/sys.h"
#include "tests/support/fuzz/fuzz_input.h"

#define MENDED 1
#define KINDLY 2
#define PIPE_MAX 60000 /* a pipe holds it until it is read */

static struct mu_thread threads[2] = { { .tid = 11 }, { .tid = 12 } };
static struct mu_mapping mappings[3] = {
	{ .range = { 0x1000, 0x2000 }, .name = "/usr/bin/a program" },
	{ .range = { 0x2000, 0x3000 }, .name = "" },
	{ .range = { 0x3000, 0x4000 }, .name = "[stack]" },
};

static void
mend(uint8_t *bytes)
{
	struct mu_pipe_header header;

	memcpy(&header, bytes, sizeof(header));
	header.magic = MU_PIPE_MAGIC;
	header.version = MU_PIPE_VERSION;
	header.header_size = sizeof(header);
	header.kind = MU_PIPE_REFERENCES;
	header.entries_size = header.num_entries * sizeof(struct mu_referrer);
	header.why.text[sizeof(header.why.text) - 1] = '\0';
	header.why.cure = 0;
	memcpy(bytes, &header, sizeof(header));
}

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

/* The reading end of a pipe that holds DATA, and whose writer is gone. */
static int
fill_pipe(const struct fuzz_input *input, unsigned flags)
{
	size_t header = sizeof(struct mu_pipe_header);
	static uint8_t bytes[PIPE_MAX];
	int ends[2];

	memcpy(bytes, input->data, input->size);
	if ((flags & MENDED) != 0 && input->size >= header)
		mend(bytes);
	if ((flags & KINDLY) != 0 && input->size >= header)
		mend_entries(bytes + header, input->size - header);
	require(pipe(ends) == 0);
	require(write(ends[1], bytes, input->size) == (ssize_t)input->size);
	close(ends[1]);
	return ends[0];
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
				      .num_mappings = 3 },
		.sweeper = {
		    .deadline_ns = mu_sys_now_ns() + 20 * MU_NS_PER_SEC,
		    .pid = getpid() /* not a child: waiting fails */ } };

	if (input.size > PIPE_MAX)
		return 0;
	mu_arena_open(&image.job.arena, (size_t)1 << 30);
	image.sweeper.pipe_read = fill_pipe(&input, flags);
	receive(&image, &references);
	close(image.sweeper.pipe_read);
	mu_arena_close(&image.job.arena);
	return 0;
}
