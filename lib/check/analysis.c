#include "lib/check/analysis.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "heapwalk/heaps/glibc/banner.h"
#include "heapwalk/heaps/musl/musl.h"
#include "heapwalk/heaps/table/table.h"
#include "heapwalk/heaps/user/user.h"
#include "heapwalk/memory/available.h"
#include "heapwalk/subject/snapshot.h"
#include "lib/check/naming.h"
#include "lib/check/program_kind.h"
#include "lib/look/write.h"
#include "lib/since/baseline.h"
#include "lib/since/since.h"
#include "lib/term/nameless.h"
#include "lib/writers/command_cure.h"
#include "mu/status.h"
#include "mu/sys.h"
#include "mu/text.h"

/* So many entries take 1.5 MB and more. */
#define FILED_FROM 65536

/* The result of trying a layout. */
struct fit {
	unsigned minor;
	size_t count, bytes;
};

/*
 * Guess the release of a glibc that does not say it: in a static program, or in
 * a core whose libc file is not available.
 */

static enum mu_status
try_layout(const struct mu_snapshot *snap, unsigned minor, size_t limit,
    struct fit *fit, struct mu_why *why)
{
	struct mu_snapshot trial = *snap;
	struct mu_arena tables;
	enum mu_status status;
	struct mu_heap heap;

	trial.glibc_major = 2;
	trial.glibc_minor = minor;
	trial.glibc_inferred = true;
	mu_arena_open(&tables, limit);
	status = mu_heaps_list(&heap, &trial, &tables, why);
	*fit = (struct fit) { minor, heap.blocks.count, heap.blocks.bytes };
	mu_arena_close(&tables);
	return status;
}

static enum mu_status
no_layout_fits(
    const struct fit *like, const struct mu_why *rule, struct mu_why *why)
{
	if (like->minor != 0)
		return mu_why(why, MU_ERR_HEAP_INCONSISTENT,
		    "a static program that does not state its glibc; as that of"
		    " 2.%u: %s",
		    like->minor, rule->text);
	return mu_why(why, MU_ERR_UNKNOWN_GLIBC,
	    "a static program that does not state its C library, and its memory"
	    " is like that of no glibc and of no mallocng (musl 1.2.1 and"
	    " later, in programs that call free())" MU_CURE
	    "if it has another library, it cannot be read");
}

/*
 * Try to read the heap of SNAP with each known layout, accepting no deviation.
 * If one fits, or several that find the same blocks, set it as the inferred
 * release of SNAP (snap->glibc_inferred). Newer releases are tried first. LIMIT
 * is in bytes, for tables. MU_ERR_UNKNOWN_GLIBC with WHY: none fits, or several
 * that differ. MU_ERR_HEAP_INCONSISTENT: it is a glibc, and none fits.
 */
static enum mu_status
release_guess(struct mu_snapshot *snap, size_t limit, struct mu_why *why)
{
	struct mu_heap_releases releases;
	struct fit best = { 0, 0, 0 }, like = { 0, 0, 0 }, fit;
	struct mu_why rule, broken;
	enum mu_status status;
	size_t row = 0;

	while (mu_heaps_releases(row, &releases))
		row++;
	while (row-- > 0 && mu_heaps_releases(row, &releases)) {
		status = try_layout(snap, releases.last, limit, &fit, &rule);
		if (status == MU_ERR_HEAP_INCONSISTENT && like.minor == 0) {
			like = fit;
			broken = rule;
		}
		if (status != MU_OK)
			continue;
		if (best.minor != 0 &&
		    (best.count != fit.count || best.bytes != fit.bytes))
			return mu_why(why, MU_ERR_UNKNOWN_GLIBC,
			    "the program does not state its glibc, and its heap"
			    " could be that of 2.%u or 2.%u",
			    fit.minor, best.minor);
		best = fit;
	}
	if (best.minor == 0)
		return no_layout_fits(&like, &broken, why);
	snap->glibc_major = 2;
	snap->glibc_minor = best.minor;
	snap->glibc_inferred = true;
	return MU_OK;
}

size_t
mu_analysis_limit(const struct mu_check *check, struct mu_cgroups_known *known,
    unsigned quarters)
{
	size_t bytes;

	if (check->max_memory != 0)
		return check->max_memory;
	return mu_available(&bytes, known) ? bytes / 4 * quarters
					   : SIZE_MAX / 2;
}

static size_t
tables_limit(struct mu_analysis *analysis)
{
	return mu_analysis_limit(analysis->check, &analysis->cgroups, 2);
}

/* The folding takes the graph apart. */
static void
explain(struct mu_analysis *analysis)
{
	struct mu_look_writer *save = analysis->check->explain.save;
	struct mu_symbols_source source = { .pid = 0 };
	struct mu_rights rights = { .uid = 0 };

	if (!mu_explain_wanted(&analysis->check->explain) ||
	    analysis->source == NULL)
		return;
	analysis->source(analysis->ctx, &source, &rights);
	if (save != NULL) {
		mu_kept_names_reset(&save->names);
		source.kept = &save->names;
	}
	analysis->explained = mu_explain(
	    &analysis->check->explain, &analysis->search, &source, &rights);
}

static void
take_step(struct mu_search *search, enum mu_search_step step)
{
	struct mu_analysis *analysis = search->ctx;

	switch (step) {
	case MU_SEARCH_LIST:
		mu_check_progress(analysis->check, MU_CHECK_STEP_WALK);
		break;
	case MU_SEARCH_LISTED:
		if (analysis->unlock != NULL)
			analysis->unlock(analysis->ctx);
		break;
	case MU_SEARCH_ROOTED:
		mu_check_progress(analysis->check, MU_CHECK_STEP_MARK);
		break;
	case MU_SEARCH_MARKED:
		explain(analysis);
		break;
	case MU_SEARCH_LINKED:
	case MU_SEARCH_READ:
	case MU_SEARCH_FOLD:
	case MU_SEARCH_FOLDED:
		break;
	}
}

void
mu_analysis_open(struct mu_analysis *analysis, const struct mu_check *check)
{
	*analysis = (struct mu_analysis) { .check = check, .file = -1 };
	mu_worker_threads_open(&analysis->threads, check->workers);
}

static bool
find_release(struct mu_analysis *analysis, struct mu_snapshot *snap)
{
	struct mu_search *search = &analysis->search;

	if (snap->glibc_major != 0 || snap->saved != NULL ||
	    mu_glibc_banner_find(
		snap, &snap->glibc_major, &snap->glibc_minor) ||
	    mu_musl_is_used(snap))
		return true;
	search->status = mu_program_kind_refuse(snap, &search->why);
	if (search->status == MU_OK)
		search->status =
		    release_guess(snap, tables_limit(analysis), &search->why);
	return search->status == MU_OK;
}

void
mu_analysis_run(struct mu_analysis *analysis, struct mu_snapshot *snap,
    uint64_t begin_ns, uint64_t deadline_ns)
{
	static const struct mu_since ever = { .count = 0 };
	const struct mu_since *since =
	    analysis->check->since == NULL ? &ever : analysis->check->since;
	struct mu_search *search = &analysis->search;
	size_t skipped;

	mu_arena_open(&analysis->tables, tables_limit(analysis));
	snap->workers = &analysis->threads.workers;
	if (analysis->check->limit >= FILED_FROM)
		analysis->file = mu_nameless_open();
	if (!find_release(analysis, snap))
		return;
	snap->num_program_heaps = mu_program_heaps_count(snap);
	*search = (struct mu_search) {
		.snap = snap,
		.tables = &analysis->tables,
		.begin_ns = begin_ns,
		.deadline_ns = deadline_ns,
		.limit = analysis->check->limit,
		.contents = analysis->check->contents,
		.by = analysis->check->by,
		.list = analysis->check->list,
		.file = analysis->file >= 0 ? &analysis->file : NULL,
		.keep = mu_explain_wanted(&analysis->check->explain) ||
		    since->count > 0,
		.known = since->known,
		.num_known = since->count,
		.known_owners = since->owners,
		.again = analysis->candidates.ranges != NULL,
		.candidates = analysis->candidates.ranges,
		.num_candidates = analysis->candidates.count,
		.step = take_step,
		.ctx = analysis,
	};
	if (mu_search_mark(search))
		mu_search_fold(search);
	skipped = snap->memory.skipped_pages - snap->memory.closed_pages;
	if (search->status == MU_OK && skipped > 0)
		search->status = mu_why(&search->why, MU_PARTIAL,
		    "%zu readable pages could not be read", skipped);
}

static void
name_glibc(const struct mu_snapshot *snap, char *name, size_t size)
{
	struct mu_heap_releases known;

	if (snap->glibc_inferred &&
	    mu_heaps_supports(snap->glibc_major, snap->glibc_minor, &known) &&
	    known.first != known.last)
		snprintf(
		    name, size, "glibc 2.%u to 2.%u", known.first, known.last);
	else if (snap->glibc_major != 0)
		snprintf(name, size, "glibc %u.%u", snap->glibc_major,
		    snap->glibc_minor);
	else if (snap->saved != NULL)
		snprintf(name, size, "musl"); /* the only other library */
}

/* Others are read beside glibc's, or in its place. */
static void
name_allocator(const struct mu_search *search, struct mu_report *answer)
{
	const struct mu_blocks *blocks = &search->heap.blocks;
	char *name = answer->allocator;
	size_t i, used, size = sizeof(answer->allocator);

	name_glibc(search->snap, name, size);
	for (i = 0; i < blocks->num_heaps; i++) {
		used = strlen(name);
		if (blocks->heaps[i].ops->has_file != NULL)
			snprintf(name + used, size - used, "%s%s",
			    used > 0 ? ", " : "", blocks->heaps[i].ops->name);
	}
}

/*
 * Do not read copied contents again: for millions of entries these are many
 * pages.
 */
static void
give_back(const struct mu_packed_piece *piece)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	uintptr_t begin = ((uintptr_t)piece->bytes + page - 1) & -page;
	uintptr_t end = (uintptr_t)(piece->bytes + piece->used) & -page;

	if (begin < end)
		madvise((void *)begin, end - begin, MADV_DONTNEED);
}

/* The file has no name: no other process can change it. */
static bool
map_entries(struct mu_packed *packed, int file, struct mu_entries *entries)
{
	void *at;

	if (packed->file == NULL || !mu_packed_to_file(packed))
		return false;
	at = mmap(NULL, packed->size, PROT_READ, MAP_SHARED, file, 0);
	entries->mapped = at != MAP_FAILED;
	entries->packed = entries->mapped ? at : NULL;
	return entries->mapped;
}

/* The disk is full: the rest is in memory. */
static bool
read_filed(int file, unsigned char *to, size_t size)
{
	size_t done = 0;
	ssize_t n = 1;

	for (; done < size && n > 0; done += n > 0 ? (size_t)n : 0)
		n = pread(file, to + done, size - done, (off_t)done);
	return done == size;
}

static bool
take_entries(struct mu_packed *packed, int file, struct mu_entries *entries)
{
	const struct mu_packed_piece *piece;
	unsigned char *to;

	*entries = (struct mu_entries) { .size = packed->size,
		.count = packed->count,
		.groups_at = packed->entries_size,
		.num_groups = packed->num_groups };
	if (packed->filed > 0 && map_entries(packed, file, entries))
		return true;
	entries->packed = malloc(packed->size + 1);
	if (entries->packed == NULL)
		return false;
	to = entries->packed;
	if (!read_filed(file, to, packed->filed))
		return false;
	to += packed->filed;
	for (piece = packed->first; piece != NULL; piece = piece->next) {
		to = mempcpy(to, piece->bytes, piece->used);
		give_back(piece);
	}
	return true;
}

static bool
take_usage(const struct mu_heap_usage *from, struct mu_heap_usage *to)
{
	struct mu_arena_usage *arenas =
	    calloc(from->num_arenas + 1, sizeof(*arenas));

	if (arenas == NULL)
		return false;
	if (from->num_arenas > 0)
		memcpy(
		    arenas, from->arenas, from->num_arenas * sizeof(*arenas));
	*to = *from;
	to->arenas = arenas;
	return true;
}

/*
 * Time and memory are limited by options of the command, and a process that has
 * ended cannot be asked again.
 */
static const char *
cure_of(enum mu_status status, const struct mu_snapshot *snap)
{
	if (status == MU_ERR_TIMEOUT || status == MU_ERR_NO_MEMORY)
		return mu_command_cure((int)status);
	if (status == MU_ERR_HEAP_INCONSISTENT && snap != NULL &&
	    snap->only_moment)
		return MU_OVERRUN ", or the end came in the middle of malloc";
	return mu_status_cure(status);
}

/* Add the cause and, if it has no remedy, a general one. */
static void
note_why(enum mu_status status, const struct mu_why *why,
    const struct mu_snapshot *snap, struct mu_report *report)
{
	const char *cure = cure_of(status, snap);
	struct mu_why cured = *why;

	if (cured.cure == 0 && cure[0] != '\0')
		mu_why_cure(&cured, "%s", cure);
	mu_report_reason(report, status, &cured);
}

/* Note that the release was inferred. */
static void
note_inferred(
    const struct mu_search *search, struct UnreachableMemoryInfo *info)
{
	size_t length = strlen(info->reason);

	if (search->heap.inferred_from != 0)
		snprintf(info->reason + length, sizeof(info->reason) - length,
		    "%sthe heap layout was inferred: that of glibc 2.%u fits",
		    length > 0 ? "; " : "", search->heap.inferred_from);
}

/* Name the options: the reader of the answer may not know them. */
static void
note_options(const struct mu_check *check, struct UnreachableMemoryInfo *info)
{
	size_t length = strlen(info->reason);

	if (check->by_option != NULL && check->by_option[0] != '\0')
		mu_text_format(info->reason + length,
		    sizeof(info->reason) - length, "%sby option: %s",
		    length > 0 ? "; " : "", check->by_option);
}

static bool
take_result(struct mu_analysis *analysis, struct mu_report *answer)
{
	struct mu_search *search = &analysis->search;
	struct UnreachableMemoryInfo *info = &answer->info;

	if (!take_usage(&search->heap.usage, &answer->usage) ||
	    !take_entries(
		&search->leaks.entries, analysis->file, &answer->entries))
		return false;
	answer->groups = search->leaks.groups;
	info->num_reported = answer->entries.count;
	info->num_leaks = search->leaks.num_leaks;
	info->leak_bytes = search->leaks.leak_bytes;
	info->num_allocations = search->heap.blocks.count;
	info->allocation_bytes = search->heap.blocks.bytes;
	info->num_entries = search->leaks.num_total;
	info->sample_bytes = search->leaks.sample_bytes;
	info->unreported_leaks = search->leaks.unreported_count;
	info->unreported_bytes = search->leaks.unreported_bytes;
	info->unrecorded_min = search->leaks.unrecorded_least;
	info->unrecorded_max = search->leaks.unrecorded_most;
	name_allocator(search, answer);
	note_inferred(search, info);
	return true;
}

enum mu_status
mu_analysis_fill_report(struct mu_analysis *analysis, enum mu_status status,
    const struct mu_why *why, struct mu_report *answer)
{
	struct UnreachableMemoryInfo *info = &answer->info;
	struct mu_why full = { 0 };

	if (status != MU_OK)
		note_why(status, why, analysis->search.snap, answer);
	if (mu_status_usable(status) && !take_result(analysis, answer)) {
		status = mu_why(&full, MU_ERR_NO_MEMORY,
		    "no room for %zu leaks", analysis->search.leaks.num_leaks);
		note_why(status, &full, analysis->search.snap, answer);
	}
	if (mu_status_usable(status)) {
		note_options(analysis->check, info);
		answer->explained = analysis->explained;
		analysis->explained = NULL;
	}
	info->status = (int)status;
	return status;
}

static void
drop_ranges(struct mu_lost_ranges *ranges)
{
	mu_arena_close(&ranges->arena);
	*ranges = (struct mu_lost_ranges) { .count = 0 };
}

static bool
add_lost(void *ctx, const struct mu_block *block)
{
	struct mu_lost_ranges *lost = ctx;

	lost->ranges[lost->count++] = block->range;
	return true;
}

bool
mu_analysis_keep_lost(struct mu_analysis *analysis)
{
	const struct mu_search *search = &analysis->search;
	struct mu_lost_ranges *lost = &analysis->lost;

	drop_ranges(lost);
	mu_arena_open(&lost->arena, tables_limit(analysis));
	lost->ranges = mu_arena_alloc(
	    &lost->arena, search->leaks.num_leaks + 1, sizeof(*lost->ranges));
	if (lost->ranges == NULL)
		return false;
	mu_blocks_each_unmarked(&search->heap.blocks, add_lost, lost);
	return true;
}

bool
mu_analysis_confirm(struct mu_analysis *analysis)
{
	drop_ranges(&analysis->candidates);
	analysis->candidates = analysis->lost;
	analysis->lost = (struct mu_lost_ranges) { .count = 0 };
	return analysis->candidates.ranges != NULL;
}

void
mu_analysis_expect(
    struct mu_analysis *analysis, struct mu_range *lost, size_t count)
{
	drop_ranges(&analysis->candidates);
	analysis->candidates.ranges = lost;
	analysis->candidates.count = count;
}

void
mu_analysis_start_over(struct mu_analysis *analysis)
{
	drop_ranges(&analysis->candidates);
	drop_ranges(&analysis->lost);
}

void
mu_analysis_forget(struct mu_analysis *analysis)
{
	mu_arena_close(&analysis->tables);
	if (analysis->file >= 0)
		close(analysis->file);
	analysis->file = -1;
	mu_explained_free(analysis->explained);
	analysis->explained = NULL;
	analysis->search = (struct mu_search) { 0 };
}

void
mu_analysis_close(struct mu_analysis *analysis)
{
	mu_analysis_forget(analysis);
	mu_worker_threads_close(&analysis->threads);
	drop_ranges(&analysis->candidates);
	drop_ranges(&analysis->lost);
}

void
mu_check_release(struct mu_report *answer)
{
	if (answer->entries.mapped)
		munmap(answer->entries.packed, answer->entries.size);
	else
		free(answer->entries.packed);
	free(answer->usage.arenas);
	mu_naming_close(answer);
	mu_explained_free(answer->explained);
	answer->explained = NULL;
	if (answer->baseline != NULL)
		free(answer->baseline->known);
	free(answer->baseline);
	answer->baseline = NULL;
	free(answer->suppressed);
	answer->suppressed = NULL;
	mu_saved_look_close(answer->look);
	answer->look = NULL;
	answer->entries = (struct mu_entries) { .count = 0 };
	answer->usage.arenas = NULL;
}
