/*
 * The words of static TLS. A variable of libc has the same offset from the
 * thread pointer in every thread.
 */
#ifndef HEAPWALK_HEAPS_GLIBC_TLS_WORDS_H
#define HEAPWALK_HEAPS_GLIBC_TLS_WORDS_H

#include "heapwalk/heaps/glibc/heap.h"
#include "mu/arch/cpu.h"

#define MU_GLIBC_FAR SIZE_MAX /* no offset */
#define MU_GLIBC_FIRST_TLS_WORD (MU_TLS_BELOW_TP ? sizeof(uintptr_t) : 0)

struct mu_glibc_tls_words {
	const char **views; /* of each thread: what is at its thread pointer */
	uintptr_t *tps;     /* sorted by address */
	size_t num_tps;
	size_t window;       /* bytes available for all of them */
	unsigned page_shift; /* log2 of the page size */

	/* Bit i: the i-th page from the thread pointer on was never written. */
	uint64_t *unwritten;
};

/*
 * View the static TLS of all threads; their thread pointers are known or found.
 * MU_ERR_NO_MEMORY.
 */
enum mu_status mu_glibc_tls_words_find(
    struct mu_glibc_tls_words *out, struct mu_glibc_walk *walk);

/* The number of the page of AT, counted from that of the thread pointer TP. */
static inline size_t
mu_glibc_tls_page(
    const struct mu_glibc_tls_words *words, uintptr_t tp, uintptr_t at)
{
	unsigned shift = words->page_shift;

	return MU_TLS_BELOW_TP ? (tp >> shift) - (at >> shift)
			       : (at >> shift) - (tp >> shift);
}

/*
 * The offset of thread_arena, which is NULL or an arena of the ring; or
 * MU_GLIBC_FAR.
 */
size_t mu_glibc_tls_words_arena(
    const struct mu_glibc_tls_words *words, const struct mu_glibc_walk *walk);

/* The word at OFFSET from the thread pointer; 0 if it was never written. */
static inline uintptr_t
mu_glibc_tls_word(
    const struct mu_glibc_tls_words *words, size_t thread, size_t offset)
{
	const char *view = words->views[thread];
	uintptr_t tp = words->tps[thread];
	uintptr_t at = MU_TLS_BELOW_TP ? tp - offset : tp + offset;
	size_t page = mu_glibc_tls_page(words, tp, at);

	if ((words->unwritten[thread] >> page & 1) != 0)
		return 0;
	return mu_glibc_word(
	    MU_TLS_BELOW_TP ? view - offset : view + offset, 0);
}

#endif
