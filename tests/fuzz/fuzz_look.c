/*
 * Any bytes as what a saved look unpacks to: an error, or a subject in which
 * every view ends.
 */
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "heapwalk/heaps/blocks.h"
#include "lib/explain/explain.h"
#include "lib/look/bytes.h"
#include "lib/look/read.h"
#include "tests/support/fuzz/fuzz_input.h"

#define LIMIT ((size_t)64 << 20)
#define INPUT_MOST ((size_t)64 << 10)

static void
step(struct mu_search *search, enum mu_search_step at)
{
	const struct mu_explain wanted = { .retained = 10,
		.why_type = "*",
		.why_count = 3,
		.all = true,
		.in_use = true };
	struct mu_look_file *look = search->ctx;
	struct mu_symbols_source source = { .kept = &look->names };
	struct mu_rights rights = { .known = false };
	struct mu_explained *explained;

	if (at != MU_SEARCH_MARKED)
		return;
	explained = mu_explain(&wanted, search, &source, &rights);
	require(explained == NULL ||
	    explained->live_blocks <= search->heap.blocks.count);
	mu_explained_free(explained);
}

static void
show(struct mu_look_file *look)
{
	struct mu_arena tables;
	struct mu_search search = {
		.snap = &look->snap,
		.tables = &tables,
		.begin_ns = mu_sys_now_ns(),
		.deadline_ns = mu_sys_now_ns() + 20 * MU_NS_PER_SEC,
		.limit = 10,
		.contents = true,
		.by = MU_BY_SHAPE,
		.list = true,
		.keep = true,
		.again = true,
		.candidates = look->lost,
		.num_candidates = look->num_lost,
		.step = step,
		.ctx = look,
	};

	mu_arena_open(&tables, LIMIT);
	if (mu_search_mark(&search) && mu_search_fold(&search))
		require(search.leaks.num_leaks <= look->num_lost);
	mu_arena_close(&tables);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static unsigned char file[2 * INPUT_MOST];
	static struct mu_look_file look;
	size_t at = sizeof(MU_LOOK_MAGIC), packed;
	struct mu_why why;

	if (size > INPUT_MOST)
		return 0;
	memcpy(file, MU_LOOK_MAGIC, at);
	file[at++] = MU_LOOK_VERSION;
	packed = ZSTD_compress(file + at, sizeof(file) - at, data, size, 1);
	require(!ZSTD_isError(packed));
	if (mu_look_file_read(&look, file, at + packed, LIMIT, &why) == MU_OK)
		show(&look);
	mu_look_file_close(&look);
	return 0;
}
