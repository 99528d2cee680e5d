/*
 * Find tcmalloc without symbols: Debian's library has none of these variables.
 *
 * The size classes rise from 8 and 16 bytes. In the array of central lists each
 * has its number, and the first, which is not used, two empty lists of spans.
 * The root of the page map leads to a leaf that has, by its page, the address
 * of a span from one of the lists; its function to allocate is of the file.
 */
#include "heapwalk/heaps/glibc/messages.h"
#include "heapwalk/heaps/tcmalloc/heap.h"
#include "heapwalk/heaps/view.h"
#include "heapwalk/subject/classify.h"

#define FIRST_SIZES ((uintptr_t)16 << 32 | 8)
#define MOVE_MAX 8192 /* NumMoveSize(): 64 KiB in objects of 8 bytes */

struct search {
	const struct mu_snapshot *snap;
	struct mu_tcmalloc *tc;
	uintptr_t span, start; /* of the page map's search */
};

/* Read the classes of the SizeMap at VIEW; false if they are none. */
static bool
read_classes(struct mu_tcmalloc *tc, const char *view)
{
	struct mu_tc_class *class;
	uint32_t last = 0;
	size_t i;

	for (i = 1; i < MU_TC_CLASSES; i++, last = class->size) {
		class = &tc->classes[i];
		class->size = mu_view_u32(view + MU_TC_SIZES + 4 * i);
		class->move = mu_view_u32(view + MU_TC_MOVES + 4 * i);
		class->pages =
		    (uint32_t)mu_view_word(view + MU_TC_PAGES + 8 * i);
		if (class->size == 0)
			break;
		if (class->size <= last || class->size % 8 != 0 ||
		    class->pages == 0 || class->pages > class->size ||
		    class->move == 0 || class->move > MOVE_MAX)
			return false;
	}
	tc->num_classes = i;
	return i > 2;
}

static bool
see_sizes(void *ctx, uintptr_t at, uintptr_t word)
{
	struct search *search = ctx;
	uintptr_t begin = at - MU_TC_SIZES - 4;
	const char *view;

	if (word != FIRST_SIZES || begin < search->tc->data.begin)
		return true;
	view = mu_snapshot_view(search->snap, begin, MU_TC_SIZE_MAP);
	if (view == NULL || read_classes(search->tc, view))
		return view == NULL;
	search->tc->num_classes = 0;
	return true;
}

/* True if both ends of the list at ADDRESS lead to it. */
static bool
is_empty(const struct mu_snapshot *snap, uintptr_t list)
{
	return mu_word_at(snap, list + MU_TC_SPAN_NEXT) == list &&
	    mu_word_at(snap, list + MU_TC_SPAN_PREV) == list;
}

static bool
see_central(void *ctx, uintptr_t at, uintptr_t word)
{
	struct search *search = ctx;
	uintptr_t begin = at - MU_TC_CENTRAL_EMPTY - MU_TC_SPAN_NEXT;
	size_t i, index;

	if (word != begin + MU_TC_CENTRAL_EMPTY ||
	    !is_empty(search->snap, begin + MU_TC_CENTRAL_EMPTY) ||
	    !is_empty(search->snap, begin + MU_TC_CENTRAL_NONEMPTY))
		return true;
	for (i = 0; i < MU_TC_CLASSES; i++) {
		index = i < search->tc->num_classes ? i : 0;
		if (mu_word_at(search->snap,
			begin + i * MU_TC_CENTRAL + MU_TC_CENTRAL_CLASS) !=
		    index)
			return true;
	}
	search->tc->central = begin;
	return false;
}

/* Any span that is in use, of a size class; 0: there is none. */
static uintptr_t
any_span(const struct mu_snapshot *snap, const struct mu_tcmalloc *tc)
{
	uintptr_t list = tc->central + MU_TC_CENTRAL_EMPTY, span;
	size_t i;

	for (i = 1; i < tc->num_classes; i++) {
		list += MU_TC_CENTRAL;
		span = mu_word_at(snap, list + MU_TC_SPAN_NEXT);
		if (span == list)
			span = mu_word_at(
			    snap, list + MU_TC_SPAN + MU_TC_SPAN_NEXT);
		if (span != list + MU_TC_SPAN)
			return span;
	}
	return 0;
}

static bool
is_root(const struct search *search, uintptr_t root)
{
	const struct mu_tcmalloc *tc = search->tc;
	size_t size = mu_tc_root_bytes(tc->shift);
	const struct mu_mapping *code;

	if (root < tc->data.begin + MU_TC_PACKED || root >= tc->data.end ||
	    tc->data.end - root < size + MU_TC_SETS + MU_TC_LISTS(tc->shift))
		return false;
	code = mu_snapshot_mapping(
	    search->snap, mu_word_at(search->snap, root + size));
	return code != NULL && code->executable &&
	    mu_mapping_same_file(code, tc->found.file);
}

/* Does WORD lead to the leaf of the page where the span begins? */
static bool
see_leaf(void *ctx, uintptr_t at, uintptr_t word)
{
	struct search *search = ctx;
	size_t bits = mu_tc_leaf_bits(search->tc->shift);
	uintptr_t page = search->start, root;

	root = at - (page >> bits) * sizeof(word);
	page &= ((uintptr_t)1 << bits) - 1;
	if (word % sizeof(word) != 0 ||
	    mu_word_at(search->snap, word + page * sizeof(word)) !=
		search->span ||
	    !is_root(search, root))
		return true;
	search->tc->root = root;
	return false;
}

/* Pages are of 8 KiB, or by --with-tcmalloc-pagesize of 32 or 64. */
static void
find_root(struct search *search)
{
	static const unsigned shifts[] = { 13, 15, 16 };
	struct mu_tcmalloc *tc = search->tc;
	size_t i;

	search->span = any_span(search->snap, tc);
	search->start = mu_word_at(search->snap, search->span);
	for (i = 0; i < sizeof(shifts) / sizeof(*shifts); i++) {
		tc->shift = shifts[i];
		if (tc->root == 0 && search->start != 0 &&
		    search->start >> (MU_TC_ADDRESS_BITS - tc->shift) == 0)
			mu_each_word(search->snap, tc->data, see_leaf, search);
		if (tc->root != 0)
			return;
	}
}

static bool
is_in(struct search *search, const struct mu_mapping *file)
{
	struct mu_tcmalloc *tc = search->tc;
	struct mu_range data;

	*tc = (struct mu_tcmalloc) { .found.file = NULL };
	if (!mu_heap_may_be_in(search->snap, file) ||
	    !mu_heap_variables(search->snap, file, &data) ||
	    mu_range_size(data) < MU_TC_PACKED ||
	    !mu_glibc_message_is(search->snap, file, "tcmalloc"))
		return false;
	tc->found.file = file;
	tc->data = data;
	mu_each_word(search->snap, data, see_sizes, search);
	if (tc->num_classes != 0)
		mu_each_word(search->snap, data, see_central, search);
	if (tc->central != 0)
		find_root(search);
	return tc->root != 0;
}

void
mu_tc_find(struct mu_tcmalloc *tc, const struct mu_snapshot *snap)
{
	const struct mu_mapping *mapping = snap->mappings;
	const struct mu_mapping *end = mapping + snap->num_mappings;
	struct search search = { .snap = snap, .tc = tc };

	for (; mapping < end; mapping++)
		if (is_in(&search, mapping))
			return;
	*tc = (struct mu_tcmalloc) { .found.file = NULL };
}
