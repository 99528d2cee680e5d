#include "heapwalk/heaps/table/table.h"

#include "heapwalk/heaps/glibc/glibc.h"
#include "heapwalk/heaps/jemalloc/jemalloc.h"
#include "heapwalk/heaps/mimalloc/mimalloc.h"
#include "heapwalk/heaps/musl/musl.h"
#include "heapwalk/heaps/saved/saved.h"
#include "heapwalk/heaps/tcmalloc/tcmalloc.h"
#include "heapwalk/heaps/user/user.h"

static enum mu_status
detect_none(struct mu_heap_member *member, const struct mu_snapshot *snap,
    struct mu_arena *arena, struct mu_why *why)
{
	(void)member;
	(void)snap;
	(void)arena;
	return mu_why(why, MU_ERR_FOREIGN_ALLOCATOR,
	    "no allocator that can be read was found");
}

static const struct mu_heap_ops none = {
	.name = "none",
	.detect = detect_none,
};

/* glibc's is searched for behind those that may be in its place. */
enum { SAVED, JEMALLOC, MIMALLOC, TCMALLOC, MUSL, GLIBC, USER, ROWS };

static const struct mu_heap_ops *const table[] = {
	[SAVED] = &mu_heap_saved,
	[JEMALLOC] = &mu_heap_jemalloc,
	[MIMALLOC] = &mu_heap_mimalloc,
	[TCMALLOC] = &mu_heap_tcmalloc,
	[MUSL] = &mu_heap_musl,
	[GLIBC] = &mu_heap_glibc,
	[USER] = &mu_heap_user,
	[ROWS] = &none,
};

_Static_assert(ROWS <= MU_HEAPS_MAX, "a member for each row");

/*
 * glibc's heap is listed first, since its reader takes all blocks that are
 * there for its own.
 */
static void
add_member(struct mu_heaps *heaps, const struct mu_heap_member *member)
{
	size_t i = heaps->count++;

	for (; i > 0 && member->ops == &mu_heap_glibc; i--)
		heaps->members[i] = heaps->members[i - 1];
	heaps->members[i] = *member;
}

static bool
has_other_libc(const struct mu_heaps *heaps)
{
	size_t i;

	for (i = 0; i < heaps->count; i++)
		if (heaps->members[i].ops->libc)
			return true;
	return false;
}

enum mu_status
mu_heaps_detect(struct mu_heaps *heaps, const struct mu_snapshot *snap,
    struct mu_arena *arena, struct mu_why *why)
{
	struct mu_heap_member member;
	enum mu_status status;
	const struct mu_heap_ops *const *row;

	*heaps = (struct mu_heaps) { .count = 0 };
	for (row = table; row < table + ROWS; row++) {
		if (*row == &mu_heap_glibc &&
		    (has_other_libc(heaps) || heaps->missing_libc))
			continue;
		member = (struct mu_heap_member) {
			.ops = *row,
			.others = heaps->members,
			.num_others = heaps->count,
		};
		status = (*row)->detect(&member, snap, arena, why);
		heaps->inferred_from |= member.inferred_from;
		if (status == MU_ERR_FOREIGN_ALLOCATOR) {
			heaps->missing = status;
			heaps->missing_why = *why;
			heaps->missing_libc |= (*row)->libc;
		} else if (status != MU_OK) {
			return status;
		} else if (member.state != NULL) {
			add_member(heaps, &member);
		}
		/* A saved look has nothing for the others to read. */
		if (snap->saved != NULL)
			break;
	}
	if (heaps->count > 0)
		return MU_OK;
	if (heaps->missing == MU_OK)
		return none.detect(&member, snap, arena, why);
	*why = heaps->missing_why;
	return heaps->missing;
}

void
mu_heaps_thaw(struct mu_heaps *heaps)
{
	size_t i;

	for (i = 0; i < heaps->count; i++)
		if (heaps->members[i].ops->thaw != NULL)
			heaps->members[i].ops->thaw(&heaps->members[i]);
}

/* The program's heaps are stopped first: their functions may call malloc. */
enum mu_status
mu_heaps_freeze(struct mu_heaps *heaps, const struct mu_heap_freeze *freeze,
    struct mu_why *why)
{
	enum mu_status status = MU_OK;
	struct mu_heap_member *member;
	size_t i;

	for (i = heaps->count; status == MU_OK && i > 0; i--) {
		member = &heaps->members[i - 1];
		if (member->ops->freeze != NULL)
			status = member->ops->freeze(member, freeze, why);
	}
	if (status != MU_OK)
		mu_heaps_thaw(heaps);
	return status;
}

/* Make a copy, as blocks refer to the members of their heaps. */
static enum mu_status
open_heap(struct mu_heap *heap, const struct mu_heaps *heaps,
    const struct mu_snapshot *snap, struct mu_arena *arena, struct mu_why *why)
{
	struct mu_heap_member *members =
	    mu_arena_alloc(arena, heaps->count, sizeof(*members));
	size_t i;

	if (members == NULL)
		return mu_why(
		    why, MU_ERR_NO_MEMORY, "no memory for the list of heaps");
	for (i = 0; i < heaps->count; i++) {
		members[i] = heaps->members[i];
		members[i].others = members;
		members[i].num_others = heaps->count;
	}
	heap->blocks.heaps = members;
	heap->blocks.num_heaps = heaps->count;
	heap->blocks.workers = snap->workers;
	heap->inferred_from = heaps->inferred_from;
	return MU_OK;
}

/* If several heaps give partial answers, the first reason is kept. */
static enum mu_status
list_all(struct mu_heap *heap, const struct mu_snapshot *snap,
    struct mu_arena *arena, struct mu_why *why)
{
	const struct mu_heap_member *member = heap->blocks.heaps;
	const struct mu_heap_member *end = member + heap->blocks.num_heaps;
	enum mu_status status = MU_OK, next;
	struct mu_why why_next = { .text = "" };

	for (; member < end; member++) {
		next = member->ops->list(heap, member, snap, arena, &why_next);
		if (!mu_status_join(&status, why, next, &why_next))
			break;
	}
	return status;
}

enum mu_status
mu_heaps_list(struct mu_heap *heap, const struct mu_snapshot *snap,
    struct mu_arena *arena, struct mu_why *why)
{
	enum mu_status status;
	struct mu_heaps heaps;

	*heap = (struct mu_heap) { .transient = false };
	mu_blocks_open(&heap->blocks, arena);
	mu_ranges_open(&heap->owned, arena);
	status = mu_heaps_detect(&heaps, snap, arena, why);
	if (status == MU_OK)
		status = open_heap(heap, &heaps, snap, arena, why);
	if (status == MU_OK)
		status = list_all(heap, snap, arena, why);
	if (status != MU_OK || heaps.missing == MU_OK)
		return status;
	*why = heaps.missing_why;
	return MU_PARTIAL;
}

bool
mu_heaps_releases(size_t row, struct mu_heap_releases *releases)
{
	const struct mu_heap_ops *const *heap;

	for (heap = table; heap < table + ROWS; heap++)
		if ((*heap)->releases != NULL)
			return (*heap)->releases(row, releases);
	return false;
}

bool
mu_heaps_supports(
    unsigned major, unsigned minor, struct mu_heap_releases *releases)
{
	size_t row;

	for (row = 0; major == 2 && mu_heaps_releases(row, releases); row++)
		if (minor >= releases->first && minor <= releases->last)
			return true;
	return false;
}

const char *
mu_heaps_other_file(const struct mu_snapshot *snap)
{
	const char *file = NULL;
	const struct mu_heap_ops *const *row;

	for (row = table; file == NULL && row < table + ROWS; row++)
		if ((*row)->other_file != NULL)
			file = (*row)->other_file(snap);
	return file;
}

bool
mu_heaps_call(long call)
{
	const struct mu_heap_ops *const *row;

	for (row = table; row < table + ROWS; row++)
		if ((*row)->calls != NULL && (*row)->calls(call))
			return true;
	return false;
}
