/*
 * When a tcache's count may differ from its list: see
 * heapwalk/heaps/glibc/tcache.h.
 *
 * tcache_put() and tcache_get() write to the list and to the count without a
 * lock. A thread can be stopped between the two stores; it works on one list,
 * and the address of the struct is in one of its registers. The thread that
 * asks for a pass is not in these functions.
 */
#include "heapwalk/heaps/glibc/tcache.h"

/* True if a register of THREAD points into the struct at TCACHE. */
static bool
is_at_work(const struct mu_snapshot *snap, const struct mu_thread *thread,
    uintptr_t tcache, size_t size)
{
	const uintptr_t *value = snap->values + thread->first_value;
	size_t i;

	for (i = 0; i < thread->num_values; i++) {
		if (value[i] - tcache < size)
			return true;
	}
	return false;
}

const char *
mu_glibc_tcache_off_rule(const struct mu_glibc_walk *walk, uintptr_t tp,
    uintptr_t tcache, size_t off)
{
	const struct mu_snapshot *snap = walk->snap;
	const struct mu_thread *thread = snap->threads;
	const struct mu_thread *end = thread + snap->num_threads;

	if (off > 1)
		return "more than one count differs from its list";
	while (thread < end && thread->tp != tp)
		thread++;
	if (off == 0 || thread == end)
		return NULL;
	if (thread->calling ||
	    (thread->num_values > 0 &&
		!is_at_work(
		    snap, thread, tcache, walk->glibc.layout->tcache_size)))
		return "a count differs from its list, and its thread is not "
		       "at work on it";
	return NULL;
}
