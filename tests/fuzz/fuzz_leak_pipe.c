/*
 * The reader of the sweeper's answer on any bytes: an accepted answer is
 * complete and can be reported; a refused one leaves nothing behind.
 *
 * Input: flags, the limit of entries that was asked for, the pipe's bytes. With
 * FUZZ_MENDED what the header begins with is put right: the rest is to be
 * reached.
 */
#include "lib/pipe/candidates.h"
#include "lib/report/frame_names.h"
#include "lib/writers/leaks_text.h"
#include "tests/support/fuzz/fuzz_pipe.h"

#define CANDIDATES 2 /* as many follow as the limit says */

static struct mu_results results;

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
				      limit == UINT16_MAX ? SIZE_MAX : limit };

	if (input.size > FUZZ_PIPE_MAX)
		return 0;
	fuzz_pipe_open(&image, &input, MU_PIPE_LEAKS, flags, NULL);
	receive(&image);
	if ((flags & CANDIDATES) != 0)
		receive_candidates(&image, limit);
	sweeper_pipe_close(&image, -1);
	return 0;
}
