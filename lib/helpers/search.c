#include "lib/helpers/search.h"

#include "heapwalk/graph/encodings.h"
#include "heapwalk/graph/references.h"
#include "heapwalk/heaps/table/table.h"
#include "heapwalk/mark/integers.h"
#include "heapwalk/mark/mark.h"
#include "heapwalk/recorded/recorded.h"
#include "heapwalk/subject/saved.h"

bool
mu_search_note_status(
    struct mu_search *search, enum mu_status status, const struct mu_why *why)
{
	return mu_status_join(&search->status, &search->why, status, why);
}

/* True if an allocator records who allocated, in memory that we do not know. */
static bool
asks_allocators(const struct mu_search *search)
{
	const struct mu_heap_member *member = search->heap.blocks.heaps;
	const struct mu_heap_member *end =
	    member + search->heap.blocks.num_heaps;

	for (; member < end && search->limit > 0; member++)
		if (member->ops->backtrace != NULL)
			return true;
	return false;
}

/*
 * If all edges are stored, marking and folding need only these, provided that
 * there is enough memory for folding: otherwise it reads blocks again.
 */
static void
end_reading(struct mu_search *search)
{
	const struct mu_arena *tables = search->tables;
	struct mu_graph *graph = &search->graph;

	if (graph->reads || search->keep || search->recorded ||
	    graph->blocks->integers != 0 || asks_allocators(search) ||
	    ((search->contents || search->by != MU_BY_BLOCK) &&
		search->limit > 0) ||
	    tables->limit < tables->used ||
	    tables->limit - tables->used < mu_fold_most(graph))
		return;
	graph->unreadable = true;
	search->step(search, MU_SEARCH_READ);
}

/* Leave out the known blocks, and with known_owners what they lead to. */
static enum mu_status
leave_out(struct mu_search *search)
{
	enum mu_status (*mark_known)(const struct mu_blocks *,
	    struct mu_memory *, const struct mu_known *, size_t, uint64_t) =
	    search->known_stay ? mu_known_unmark : mu_known_leave_out;
	enum mu_status status =
	    mark_known(&search->heap.blocks, &search->snap->memory,
		search->known, search->num_known, search->deadline_ns);

	if (status == MU_OK && search->known_owners)
		status = mu_mark_on(&search->graph, search->deadline_ns);
	return status;
}

static enum mu_status
mark_all(struct mu_search *search)
{
	struct mu_blocks *blocks = &search->heap.blocks;
	struct mu_graph *graph = &search->graph;
	enum mu_status status;

	blocks->words = search->snap->reach.words;
	blocks->filter = search->filter;
	blocks->no_headers = search->snap->no_headers;
	blocks->encodings = mu_encodings_used(search->snap);
	blocks->integers =
	    search->snap->saved != NULL ? 0 : mu_integers_used(search->snap);
	if (!mu_references_find_code(blocks, search->snap, search->tables))
		return MU_ERR_NO_MEMORY;
	status = mu_graph_make(graph, blocks, &search->roots,
	    &search->snap->memory, search->tables, search->deadline_ns);
	if (status != MU_OK)
		return status;
	search->step(search, MU_SEARCH_LINKED);
	end_reading(search);
	status = mu_mark(graph, search->deadline_ns);
	if (status == MU_OK && blocks->integers != 0)
		status = mu_integers_mark(
		    graph, search->snap, &search->roots, search->deadline_ns);
	if (status == MU_OK)
		status = leave_out(search);
	if (status == MU_OK && search->again)
		status = mu_mark_confirm(graph, search->candidates,
		    search->num_candidates, search->deadline_ns);
	return status;
}

static enum mu_status
mark(struct mu_search *search, struct mu_why *why)
{
	enum mu_status status = mark_all(search);

	if (status == MU_ERR_NO_MEMORY)
		return mu_why(why, status, "no memory for the marking");
	if (status != MU_OK)
		return mu_why(why, status, "the marking did not end in time");
	return MU_OK;
}

/*
 * A block that the program has freed refers to nothing, even if a recorder
 * holds it back; one that it ignores is held. Returns false without memory.
 */
static bool
ask_recorder(struct mu_search *search)
{
	struct mu_deadline deadline = { .ns = search->deadline_ns };
	struct mu_snapshot *snap = search->snap;
	struct mu_heap_usage *usage = &search->heap.usage;
	uintptr_t recorder_at = snap->recorded;
	size_t held;

	if (snap->saved != NULL) {
		search->recorded = snap->saved->recorder != NULL;
		if (!search->recorded)
			return true;
		search->recorder = *snap->saved->recorder;
		search->heap.blocks.recorder = &search->recorder;
		return true;
	}
	if (recorder_at == 0 && !snap->unrecorded)
		recorder_at = mu_recorded_find(snap);
	if (recorder_at == 0 ||
	    !mu_recorder_open(
		&search->recorder, snap, recorder_at, search->tables))
		return true;
	search->recorded = true;
	search->heap.blocks.recorder = &search->recorder;
	snap->tables = search->recorder.tables;
	snap->num_tables = search->recorder.num_tables;
	held = mu_recorder_drop_freed(
	    &search->recorder, &search->heap.blocks, &deadline);
	usage->live_reachable -= held;
	usage->overhead += held;
	return mu_recorder_keep_ignored(&search->recorder, &search->heap.blocks,
	    snap, search->tables, &deadline);
}

bool
mu_search_mark(struct mu_search *search)
{
	struct mu_snapshot *snap = search->snap;
	struct mu_why why = { .text = "" };

	search->step(search, MU_SEARCH_LIST);
	if (!mu_search_note_status(search,
		mu_heaps_list(&search->heap, snap, search->tables, &why), &why))
		return false;
	search->step(search, MU_SEARCH_LISTED);
	if (!ask_recorder(search)) {
		mu_why(&why, MU_ERR_NO_MEMORY,
		    "no memory for the blocks that are ignored");
		return mu_search_note_status(search, MU_ERR_NO_MEMORY, &why);
	}
	if (!mu_search_note_status(search,
		mu_roots_find(
		    &search->roots, snap, &search->heap, search->tables, &why),
		&why))
		return false;
	search->step(search, MU_SEARCH_ROOTED);
	if (!mu_search_note_status(search, mark(search, &why), &why))
		return false;
	search->step(search, MU_SEARCH_MARKED);
	return true;
}

/* There must be time to send a partial answer before the caller gives up. */
static uint64_t
folding_ends(const struct mu_search *search)
{
	return search->deadline_ns -
	    (search->deadline_ns - search->begin_ns) / 8;
}

bool
mu_search_fold(struct mu_search *search)
{
	const struct mu_fold_wanted wanted = {
		.limit = search->limit,
		.contents = search->contents,
		.by = search->by,
		.list = search->list,
		.file = search->file,
		.snap = search->snap,
	};
	struct mu_why why = { .text = "" };

	search->step(search, MU_SEARCH_FOLD);
	if (!mu_search_note_status(search,
		mu_fold(&search->leaks, &search->graph, &wanted,
		    folding_ends(search), &why),
		&why))
		return false;
	mu_usage_complete(&search->heap.usage, search->leaks.leak_bytes);
	search->step(search, MU_SEARCH_FOLDED);
	return true;
}
