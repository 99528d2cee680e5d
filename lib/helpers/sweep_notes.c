#include "heapwalk/memory/forked.h"
#include "heapwalk/memory/shared.h"
#include "heapwalk/memory/userfaults.h"
#include "heapwalk/refer/moved.h"
#include "heapwalk/subject/dynamic_symbols.h"
#include "heapwalk/subject/modules.h"
#include "lib/helpers/sweep.h"
#include "lib/state/gap_sync.h"
#include "lib/state/library.h"
#include "mu/procfs.h"
#include "mu/sys.h"
#include "mu/text.h"
#include "ptrace/live/proc.h"
#include "ptrace/live/sharer.h"
#include "ptrace/remote/alternate_stacks.h"

static void
note_skipped(struct mu_image *image, struct mu_sweep *sweep)
{
	size_t skipped =
	    image->snap.memory.skipped_pages - image->snap.memory.closed_pages;
	struct mu_search *search = &sweep->search;

	/* The image is not used any further. */
	if (skipped == 0 || !mu_status_usable(search->status))
		return;
	mu_log(&image->job.log, MU_LOG_WARNING,
	    "%zu pages skipped due to segfaults", skipped);
	if (search->status == MU_OK && skipped > sweep->missing)
		search->status = mu_why(&search->why, MU_PARTIAL,
		    "%zu readable pages could not be read", skipped);
	else if (search->status == MU_OK)
		search->status = mu_why(&search->why, MU_PARTIAL,
		    "%zu pages that a fork leaves out (MADV_DONTFORK,"
		    " MADV_WIPEONFORK) were too many to be copied",
		    skipped);
}

static bool
anything_lost(const struct mu_image *image, const struct mu_sweep *sweep)
{
	return image->query.references ? sweep->referrers.total == 0
				       : sweep->search.leaks.num_leaks > 0;
}

/*
 * A block may look lost because only memory that fork has cleared in this image
 * refers to it. That memory may be part of the heap, too.
 */
static void
note_wiped(struct mu_image *image, struct mu_sweep *sweep)
{
	struct mu_search *search = &sweep->search;
	bool candidate = search->status == MU_ERR_HEAP_INCONSISTENT ||
	    (mu_status_usable(search->status) && anything_lost(image, sweep));

	if (candidate && mu_gap_sync_wiped(image) && search->status == MU_OK)
		search->status = mu_why(&search->why, MU_PARTIAL,
		    "memory under MADV_WIPEONFORK could not be scanned");
}

/*
 * A pointer that moves within memory that changes during the search may be
 * missed.
 */
static void
note_changing(struct mu_image *image, struct mu_sweep *sweep)
{
	struct mu_search *search = &sweep->search;

	if (search->status == MU_OK && image->uncopied.changing > 0 &&
	    anything_lost(image, sweep))
		search->status = mu_why(&search->why, MU_PARTIAL,
		    "%zu MiB of shared memory could not be copied during the"
		    " stop: what only they refer to may be among these",
		    (image->uncopied.changing + 0xfffff) >> 20);
}

/* Shared pages that have data now: see struct mu_moved_source. */
struct shared_now {
	const struct mu_image *image;
	struct mu_pages pages;   /* of the image */
	struct mu_pages touched; /* of the program */
};

/*
 * The image does not share any more what was private: a file in which the
 * program has its own copies of pages. write(2) may give data to the others,
 * but not to those of a module.
 */
static bool
is_known(struct shared_now *now, const struct mu_mapping *mapping)
{
	const struct mu_image *image = now->image;
	struct mu_module module;
	struct mu_range part;

	if (image->uncopied.kept[mapping - image->snap.mappings] !=
	    MU_SHARED_NOWHERE)
		return true;
	if (!mapping->shared &&
	    mu_module_find(&image->snap, mapping->range.begin, &module))
		return true;
	return mu_pages_next(&now->touched, mapping, mapping->range, &part) &&
	    mu_range_size(part) == mu_range_size(mapping->range);
}

static bool
ask_now(void *ctx, const struct mu_mapping *mapping, bool first)
{
	struct shared_now *now = ctx;
	size_t page_size = now->image->snap.memory.page_size;

	if (first) {
		mu_pages_close(&now->pages);
		mu_pages_open(&now->pages, page_size);
		mu_pages_of(&now->touched, now->touched.pagemap, page_size);
	}
	return now->image->uncopied.kept != NULL && now->touched.pagemap >= 0 &&
	    is_known(now, mapping);
}

static bool
next_now(void *ctx, const struct mu_mapping *mapping, struct mu_range range,
    struct mu_range *part)
{
	struct shared_now *now = ctx;
	const struct mu_image *image = now->image;
	uintptr_t kept = image->uncopied.kept[mapping - image->snap.mappings];

	if (kept == MU_SHARED_NOWHERE)
		return mu_pages_next(&now->touched, mapping, range, part);
	return mu_shared_next(&now->pages, kept, mapping, range, part);
}

/*
 * The memory of the program itself shows what others store there; the image has
 * a copy, from which it can be opened only as ptrace permits: a process that
 * shares the memory has opened it.
 */
static void
note_moved(struct mu_image *image, struct mu_sweep *sweep)
{
	struct shared_now now = {
		.image = image,
		.pages = { .pagemap = -1 },
	};
	struct mu_moved_source source = {
		.tid = mu_proc_living(image->job.pid),
		.memory = image->uncopied.memory,
		.except = mu_gap_sync_range(image),
		.ask = ask_now,
		.next = next_now,
		.ctx = &now,
	};
	struct mu_search *search = &sweep->search;

	if (search->status != MU_OK || image->query.references ||
	    !anything_lost(image, sweep) ||
	    !mu_shared_any(
		image->snap.mappings, image->snap.num_mappings, source.except))
		return;
	now.touched.pagemap = image->uncopied.pagemap;
	search->status = mu_moved_since(&image->snap, &search->heap.blocks,
	    &source, &image->job.arena, &search->why);
	mu_pages_close(&now.pages);
}

/* The collector shares the memory, too, and may still exist. */
static void
note_sharer(struct mu_image *image, struct mu_sweep *sweep)
{
	struct mu_search *search = &sweep->search;

	if (search->status == MU_OK && !image->stop.alone &&
	    anything_lost(image, sweep))
		search->status = mu_sharer_note(
		    image->job.pid, image->stop.collector, &search->why);
}

/* No filter forbids a call in place. */
static bool
may_miss(const struct mu_image *image)
{
	return !image->in_place || mu_range_size(image->own_stack) == 0 ||
	    !mu_userfaults_none(&image->snap, image->own_stack.begin,
		&mu_library.userfaults_told);
}

void
mu_sweep_note_missing(struct mu_image *image, struct mu_sweep *sweep)
{
	struct mu_search *search = &sweep->search;

	if (search->status == MU_OK && anything_lost(image, sweep) &&
	    may_miss(image))
		search->status =
		    mu_forked_note_missing(image->job.pid, &search->why);
}

static bool
large_lost(const struct mu_image *image, const struct mu_sweep *sweep)
{
	const struct mu_referrers *referrers = &sweep->referrers;

	if (image->query.references)
		return referrers->total == 0 &&
		    mu_range_size(referrers->target) >= MU_ALTERNATE_STACK_MIN;
	return mu_blocks_unmarked_of(
	    &sweep->search.heap.blocks, MU_ALTERNATE_STACK_MIN);
}

/*
 * A leaked block may be a thread's alternate signal stack. As in
 * lib/check/process_gaps.c only an import of sigaltstack() is a doubt.
 */
static void
note_stacks(struct mu_image *image, struct mu_sweep *sweep)
{
	struct mu_search *search = &sweep->search;
	bool sets;

	if (!mu_status_usable(search->status) || image->stop.alone ||
	    !anything_lost(image, sweep) || !large_lost(image, sweep) ||
	    !mu_may_set_stacks(&image->snap))
		return;
	sets = mu_may_call_sigaltstack(&image->snap);
	if ((sets || image->stop.stack_tries == 0) &&
	    mu_gap_sync_request_stacks(image, &search->why))
		search->status = MU_ERR_TIMEOUT;
	else if (search->status == MU_OK && image->stop.unasked > 0 && sets)
		search->status = mu_why(&search->why, MU_PARTIAL,
		    "the alternate signal stacks of %zu threads, which may be"
		    " among these, are not known" MU_CURE
		    "stop=signal tells them",
		    image->stop.unasked);
}

void
mu_sweep_note_all(struct mu_image *image, struct mu_sweep *sweep)
{
	note_skipped(image, sweep);
	note_wiped(image, sweep);
	note_changing(image, sweep);
	note_moved(image, sweep);
	note_stacks(image, sweep);
	note_sharer(image, sweep);
	mu_sweep_note_missing(image, sweep);
}
