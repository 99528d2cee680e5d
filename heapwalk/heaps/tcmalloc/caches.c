/*
 * Free objects that are not in the lists of their spans: a central list has
 * slots with chains of a fixed number of objects, and each thread a list for
 * each size class, with their number.
 */
#include "heapwalk/heaps/listing.h"
#include "heapwalk/heaps/tcmalloc/heap.h"
#include "heapwalk/heaps/tcmalloc/pieces.h"
#include "heapwalk/heaps/view.h"

/* Take the chain of COUNT objects at HEAD; *LAST is the last of these. */
static bool
take_chain(const struct mu_tc_walk *walk, uintptr_t head, unsigned index,
    size_t count, uintptr_t *last)
{
	const char *view;

	for (*last = 0; count > 0 && head != 0; count--) {
		view = mu_tc_take(walk, head, index);
		if (view == NULL)
			return false;
		*last = head;
		head = mu_view_word(view);
	}
	return count == 0 && head == 0;
}

static enum mu_status
take_slots(const struct mu_tc_walk *walk, uintptr_t at, unsigned index)
{
	const char *view = mu_snapshot_view(walk->snap, at, MU_TC_CENTRAL);
	uintptr_t last;
	size_t used, i;

	if (view == NULL || mu_view_u32(view) != 0)
		return mu_tc_wrong(walk, "central list", at, "a lock held");
	if (mu_view_word(view + MU_TC_CENTRAL_SPANS) != walk->spans_of[index] ||
	    mu_view_word(view + MU_TC_CENTRAL_COUNTER) !=
		walk->objects_of[index])
		return mu_tc_wrong(walk, "central list", at,
		    "another number of spans or of free objects");
	used = mu_view_u32(view + MU_TC_CENTRAL_USED);
	if (used > MU_TC_SLOTS)
		return mu_tc_wrong(walk, "central list", at, "too many slots");
	view += MU_TC_CENTRAL_SLOTS;
	for (i = 0; i < used; i++, view += 2 * sizeof(last))
		if (!take_chain(walk, mu_view_word(view), index,
			walk->tc.classes[index].move, &last) ||
		    last != mu_view_word(view + sizeof(last)))
			return mu_tc_wrong(walk, "central list", at,
			    "a chain of objects that is none");
	return MU_OK;
}

enum mu_status
mu_tc_central_take(struct mu_tc_walk *walk)
{
	const struct mu_tcmalloc *tc = &walk->tc;
	uintptr_t at = tc->central + MU_TC_CENTRAL;
	enum mu_status status = MU_OK;
	unsigned i;

	/* Slots that are not used have what they had. */
	if (!mu_ranges_add(&walk->owned,
		(struct mu_range) {
		    tc->central, tc->central + MU_TC_CLASSES * MU_TC_CENTRAL }))
		return mu_heap_no_memory(walk->why);
	for (i = 1; status == MU_OK && i < tc->num_classes; i++) {
		status = take_slots(walk, at, i);
		at += MU_TC_CENTRAL;
	}
	return status;
}

/* The thread's cache at ADDRESS; NULL if there is none. */
static const char *
view_cache(const struct mu_tc_walk *walk, uintptr_t address)
{
	const char *view = mu_snapshot_view(walk->snap, address, MU_TC_THREAD);
	const char *list = view;
	size_t i;

	if (address % sizeof(address) != 0)
		return NULL;
	for (i = 0; view != NULL && i < walk->tc.num_classes; i++) {
		if (mu_view_u32(list + MU_TC_FREE_SIZE) !=
		    walk->tc.classes[i].size)
			return NULL;
		list += MU_TC_FREE_LIST;
	}
	return view;
}

/*
 * The number of caches in the list that begins with HEAD; 0 if it is none. Each
 * leads back to the one before it, so that the list ends.
 */
static size_t
count_caches(const struct mu_tc_walk *walk, uintptr_t head, size_t next)
{
	uintptr_t last = 0;
	const char *view;
	size_t count = 0;

	for (; head != 0; count++) {
		view = view_cache(walk, head);
		if (view == NULL ||
		    mu_view_word(view + next + sizeof(head)) != last)
			return 0;
		last = head;
		head = mu_view_word(view + next);
	}
	return count;
}

struct heads {
	struct mu_tc_walk *walk;
	const struct mu_tc_pieces *pieces;
	uintptr_t head;
	size_t next; /* offset of next_ */
};

/* The list of unused caches may have one that leads to none. */
static bool
see_head(void *ctx, uintptr_t at, uintptr_t word)
{
	static const size_t offsets[] = { MU_TC_NEXT_NEW, MU_TC_NEXT_OLD };
	struct heads *heads = ctx;
	size_t i;

	if (at == heads->pieces->at + MU_TC_ALLOCATOR_LIST ||
	    view_cache(heads->walk, word) == NULL)
		return true;
	for (i = 0; i < sizeof(offsets) / sizeof(*offsets); i++) {
		if (count_caches(heads->walk, word, offsets[i]) !=
		    heads->pieces->used)
			continue;
		heads->head = word;
		heads->next = offsets[i];
		return false;
	}
	return true;
}

static enum mu_status
take_cache(struct mu_tc_walk *walk, uintptr_t cache)
{
	const char *list = view_cache(walk, cache);
	uintptr_t last;
	unsigned i;

	for (i = 0; list != NULL && i < walk->tc.num_classes; i++) {
		if (!take_chain(walk, mu_view_word(list), i,
			mu_view_u32(list + MU_TC_FREE_LENGTH), &last))
			return mu_tc_wrong(walk, "cache of a thread", cache,
			    "a list of objects that its length contradicts");
		list += MU_TC_FREE_LIST;
	}
	walk->overhead += MU_TC_THREAD;
	return MU_OK;
}

enum mu_status
mu_tc_threads_take(struct mu_tc_walk *walk)
{
	enum mu_status status = MU_OK;
	struct mu_tc_pieces pieces;
	struct heads heads = { .walk = walk, .pieces = &pieces };
	uintptr_t cache;

	if (!mu_tc_pieces_find(&pieces, walk, MU_TC_THREAD, SIZE_MAX))
		return mu_tc_wrong(walk, "data", walk->tc.data.begin,
		    "no count of threads' caches");
	if (pieces.used > 0)
		mu_each_word(walk->snap, walk->tc.data, see_head, &heads);
	if (pieces.used > 0 && heads.head == 0)
		return mu_tc_wrong(walk, "list of caches", pieces.at,
		    "not those that are counted");
	for (cache = heads.head; status == MU_OK && cache != 0;
	     cache = mu_word_at(walk->snap, cache + heads.next))
		status = take_cache(walk, cache);
	return status;
}
