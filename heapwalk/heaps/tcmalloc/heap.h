/*
 * A heap of gperftools' tcmalloc while it is read: what was found, and its
 * spans.
 *
 * detect() finds the size classes, the central lists and the page map among the
 * variables of a file (find.c); list() takes all spans from the page map
 * (pagemap.c), looks which of them a thread is about to get (inside.c), and
 * takes from those in use their own free objects (objects.c) and those that
 * central lists and threads have cached (caches.c). The rest is added to the
 * table of blocks (tcmalloc.c).
 *
 * A span counts its objects that are not in its list; a central list its spans
 * and their free objects; a cache its objects; the page heap its bytes; and the
 * allocator of each of these structures how many there are: all must agree. A
 * change that is not complete shows as a contradiction, or in a lock that is
 * held; or its objects are linked and their first one is in a register or on
 * the stack of a thread: they count as reachable.
 *
 * Runs in: original (find.c), sweeper (any).
 */
#ifndef HEAPWALK_HEAPS_TCMALLOC_HEAP_H
#define HEAPWALK_HEAPS_TCMALLOC_HEAP_H

#include "heapwalk/heaps/found.h"
#include "heapwalk/heaps/slab.h"
#include "heapwalk/heaps/tcmalloc/layout.h"
#include "heapwalk/subject/each_word.h"

struct mu_tc_class {
	uint32_t size;  /* of an object */
	uint32_t pages; /* of a span */
	uint32_t move;  /* objects of a slot of the central list */
};

/* What detect() finds. */
struct mu_tcmalloc {
	struct mu_heap_found found;
	struct mu_range data; /* its variables */
	struct mu_tc_class classes[MU_TC_CLASSES];
	size_t num_classes;
	uintptr_t central; /* central_cache_ */
	uintptr_t root;    /* of the page map */
	unsigned shift;    /* kPageShift */
};

/* A span in use. */
struct mu_tc_span {
	struct mu_range range;
	size_t size;       /* of each object */
	unsigned index;    /* size class; 0: one block */
	unsigned refcount; /* of its size class: objects not in its list */
	uintptr_t at;      /* of its Span */
	bool keep;         /* a thread is about to get it: never lost */
	bool sampled;      /* one block, smaller than its pages */
	uintptr_t objects; /* its list; sampled: the StackTrace */
	struct mu_slab slab;
	uint64_t *live; /* of the slab */
};

struct mu_tc_walk {
	const struct mu_snapshot *snap;
	struct mu_arena *memory;
	struct mu_why *why;
	struct mu_tcmalloc tc;
	struct mu_ranges owned;
	struct mu_tc_span *spans; /* by address */
	size_t num_spans, max_spans;
	size_t num_free; /* spans not in use */
	size_t free[3];  /* bytes, by enum mu_tc_location */
	size_t overhead; /* bytes of tcmalloc's own structures */
	size_t spans_of[MU_TC_CLASSES], objects_of[MU_TC_CLASSES];
};

/* Find it in the variables of programs and libraries; tc->found.file or NULL.
 */
void mu_tc_find(struct mu_tcmalloc *tc, const struct mu_snapshot *snap);

/* Read walk->spans from the page map. */
enum mu_status mu_tc_spans_read(struct mu_tc_walk *walk);

/* Read which objects of all spans are in the lists of these. */
enum mu_status mu_tc_objects_read(struct mu_tc_walk *walk);

/* Find the spans that threads are about to get. */
void mu_tc_inside_keep(const struct mu_tc_walk *walk);

/* Take what the central lists and the threads have cached. */
enum mu_status mu_tc_central_take(struct mu_tc_walk *walk);
enum mu_status mu_tc_threads_take(struct mu_tc_walk *walk);

/* The Spans that are not in use are tcmalloc's own memory, too. */
enum mu_status mu_tc_unused_spans_own(struct mu_tc_walk *walk);

/*
 * Turn the live object at ADDRESS into a free one, of size class INDEX. Returns
 * its bytes, which begin with the next object's address; NULL if there is none
 * such.
 */
const char *mu_tc_take(
    const struct mu_tc_walk *walk, uintptr_t address, unsigned index);

/* The same of SPAN. */
const char *mu_tc_take_of(const struct mu_tc_span *span, uintptr_t address);

/* Bits of a page's number that tell the entry of a leaf. */
static inline size_t
mu_tc_leaf_bits(unsigned shift)
{
	return (MU_TC_ADDRESS_BITS - shift + 1) / 2;
}

/* The size of the page map's root. */
static inline size_t
mu_tc_root_bytes(unsigned shift)
{
	return sizeof(uintptr_t)
	    << (MU_TC_ADDRESS_BITS - shift - mu_tc_leaf_bits(shift));
}

/* MU_ERR_HEAP_INCONSISTENT: what of tcmalloc's at ADDRESS breaks which RULE. */
static inline enum mu_status
mu_tc_wrong(const struct mu_tc_walk *walk, const char *what, uintptr_t address,
    const char *rule)
{
	return mu_why(walk->why, MU_ERR_HEAP_INCONSISTENT,
	    "tcmalloc's %s at %p has %s", what, (void *)address, rule);
}

#endif
