/*
 * The reader of the sweeper's answer on any bytes: an accepted answer is
 * complete and can be reported; a refused one leaves nothing behind.
 *
 * Input: flags, the limit of entries that was asked for, the pipe's bytes. With
 * MENDED what the header begins with is put right: the rest is to be reached.
 */
#include <unistd.h>

#include "lib/pipe/candidates.h"
#include "lib/pipe/leak_pipe.h"
#include "lib/report/frame_names.h"
#include "lib/writers/leaks_text.h"
#include "mu/sys.h"
#include "tests/support/fuzz/fuzz_input.h"

#define MENDED 1
#define CANDIDATES 2   /* as many follow as the limit says */
#define PIPE_MAX 60000 /* a pipe holds it until it is read */

static struct mu_results results;

static void
mend(uint8_t *bytes)
{
	struct mu_pipe_header header;

	memcpy(&header, bytes, sizeof(header));
	header.magic = MU_PIPE_MAGIC;
	header.version = MU_PIPE_VERSION;
	header.header_size = sizeof(header);
	header.kind = MU_PIPE_LEAKS;
	header.why.text[sizeof(header.why.text) - 1] = '\0';
	header.why.cure = 0;
	memcpy(bytes, &header, sizeof(header));
}

/* The reading end of a pipe that holds DATA, and whose writer is gone. */
static int
fill_pipe(const struct fuzz_input *input, unsigned flags)
{
	static uint8_t bytes[PIPE_MAX];
	int ends[2];

	memcpy(bytes, input->data, input->size);
	if ((flags & MENDED) != 0 &&
	    input->size >= sizeof(struct mu_pipe_header))
		mend(bytes);
	require(pipe(ends) == 0);
	require(write(ends[1], bytes, input->size) == (ssize_t)input->size);
	close(ends[1]);
	return ends[0];
}

static void
check_answer(
    struct UnreachableMemoryInfo *info, struct mu_result *result, size_t limit)
{
	struct mu_entries *entries = &result->entries;
	struct Leak *leaks;
	static char buffer[4096];
	struct mu_text text = { buffer, sizeof(buffer), 0 };
	struct mu_out out = mu_out_text(&text);
	const struct mu_shown shown = { .contents = true,
		.style = MU_STYLE_PLAIN };
	struct mu_frame_names frames = { .opened = false };
	struct mu_report report = { .info = *info,
		.entries = *entries,
		.names = mu_frame_names(&frames) };

	require(info->num_reported <= limit);
	require(info->num_reported <= info->num_leaks);
	require(info->num_leaks <= info->num_allocations);
	require((entries->packed == NULL) == (info->num_reported == 0));
	require(entries->count == info->num_reported);
	mu_leaks_text(&out, &report, &shown);
	mu_frame_names_close(&frames);
	mu_leaks_text_summary(&out, info);
	leaks = mu_results_new(&results, entries->count, result->num_more);
	if (leaks != NULL) {
		mu_entries_unpack(entries, leaks);
		require(mu_results_free(&results, leaks));
	}
	mu_results_drop(&results, entries);
}

static void
receive(struct mu_image *image)
{
	struct UnreachableMemoryInfo info = { 0 };
	struct mu_result result = { .num_more = 0 };
	enum mu_status status =
	    mu_leak_pipe_receive(image, &results, &result, &info);

	require((unsigned)status < MU_STATUS_COUNT);
	require(memchr(image->job.why.text, '\0',
		    sizeof(image->job.why.text)) != NULL);
	if (status == MU_OK || status == MU_PARTIAL)
		check_answer(&info, &result, image->query.limit);
	else
		require(
		    result.entries.packed == NULL && info.num_reported == 0);
	require(results.first == NULL);
}

static void
receive_candidates(struct mu_image *image, size_t count)
{
	enum mu_status status = mu_candidates_receive(image, count);
	volatile uintptr_t end = 0;
	size_t i;

	if (status != MU_OK)
		return;
	require(image->query.num_candidates == count);
	for (i = 0; i < count; i++)
		end = image->query.candidates[i].end;
	(void)end;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input input = { data, size };
	unsigned flags = (unsigned)fuzz_take(&input, 1);
	size_t limit = fuzz_take(&input, 2);
	struct mu_image image = { .query.limit =
				      limit == UINT16_MAX ? SIZE_MAX : limit,
		.sweeper = {
		    .deadline_ns = mu_sys_now_ns() + 20 * MU_NS_PER_SEC,
		    .pid = getpid() /* not a child: waiting fails */ } };

	if (input.size > PIPE_MAX)
		return 0;
	mu_arena_open(&image.job.arena, (size_t)1 << 30);
	image.sweeper.pipe_read = fill_pipe(&input, flags);
	receive(&image);
	if ((flags & CANDIDATES) != 0)
		receive_candidates(&image, limit);
	close(image.sweeper.pipe_read);
	mu_arena_close(&image.job.arena);
	return 0;
}
