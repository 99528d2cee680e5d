/*
 * A large block on its way to the program: the page heap returns the address of
 * its Span, and releases the lock, before there is the address of the block.
 * Nothing else leads to the block then, so that it would be taken for lost.
 *
 * A thread is there only while its pc is in the code of tcmalloc's file, or
 * while it wakes one that waits for the lock.
 */
#include <sys/syscall.h>

#include "heapwalk/heaps/tcmalloc/heap.h"
#include "heapwalk/subject/classify.h"

/* Bytes of stack from the call up to the frame that has the Span. */
#define FRAMES 512

static bool
may_be_inside(const struct mu_tc_walk *walk, const struct mu_thread *thread)
{
	const struct mu_mapping *code =
	    mu_snapshot_mapping(walk->snap, thread->pc);

	return thread->call == SYS_futex ||
	    (code != NULL && code->executable &&
		mu_mapping_same_file(code, walk->tc.found.file));
}

/* Keep the block of which WORD is the Span. */
static void
keep(const struct mu_tc_walk *walk, uintptr_t word)
{
	uintptr_t begin = mu_word_at(walk->snap, word) << walk->tc.shift;
	size_t i = mu_ranges_upper(
	    walk->spans, walk->num_spans, sizeof(*walk->spans), begin);
	struct mu_tc_span *span = i == 0 ? NULL : &walk->spans[i - 1];

	if (span != NULL && span->at == word && span->index == 0)
		span->keep = true;
}

void
mu_tc_inside_keep(const struct mu_tc_walk *walk)
{
	const struct mu_snapshot *snap = walk->snap;
	const struct mu_thread *thread = snap->threads;
	const struct mu_thread *end = thread + snap->num_threads;
	uintptr_t at;
	size_t i;

	for (; thread < end; thread++) {
		if (thread->sp == 0 || !may_be_inside(walk, thread))
			continue;
		for (i = 0; i < thread->num_values; i++)
			keep(walk, snap->values[thread->first_value + i]);
		at = thread->sp & ~(uintptr_t)7;
		for (i = 0; i < FRAMES; i += sizeof(at))
			keep(walk, mu_word_at(snap, at + i));
	}
}
