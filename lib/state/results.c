/*
 * Runs in: original; the sweeper reads the list in its image.
 */
#include "lib/state/results.h"

#include <string.h>

#include "lib/state/library.h"
#include "mu/sys.h"

#define LOCK_NS MU_NS_PER_SEC
#define PAGE_MAX 65536 /* the largest page size of Linux */

struct mu_result {
	struct mu_result *next;
	size_t size; /* mapped bytes, with this header */
	char answer[] __attribute__((aligned(16)));
};

static bool
enter(struct mu_results *results, mu_sigmask *mask)
{
	/*
	 * A signal handler of this thread that frees a report must not run
	 * here.
	 */
	mu_sys_block_signals(mask);
	if (mu_lock_take(&results->lock, mu_sys_now_ns() + LOCK_NS) == MU_OK)
		return true;
	mu_sys_restore_signals(mask);
	return false;
}

static void
leave(struct mu_results *results, const mu_sigmask *mask)
{
	mu_lock_release(&results->lock);
	mu_sys_restore_signals(mask);
}

void *
mu_results_new_bytes(struct mu_results *results, size_t size)
{
	struct mu_result *result;
	mu_sigmask mask;
	long address;

	if (size == 0 || __builtin_add_overflow(size, sizeof(*result), &size))
		return NULL;
	address = mu_sys_mmap(
	    NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS);
	if (mu_sys_failed(address))
		return NULL;
	result = (struct mu_result *)address;
	result->size = size;
	if (!enter(results, &mask)) {
		mu_sys_munmap(result, size);
		return NULL;
	}
	result->next = results->first;
	__atomic_store_n(&results->first, result, __ATOMIC_RELEASE);
	leave(results, &mask);
	return result->answer;
}

struct Leak *
mu_results_new(struct mu_results *results, size_t count, size_t num_more)
{
	size_t size, more;

	if (__builtin_mul_overflow(count, sizeof(struct Leak), &size) ||
	    __builtin_mul_overflow(num_more, sizeof(uintptr_t), &more) ||
	    __builtin_add_overflow(size, more, &size))
		return NULL;
	return mu_results_new_bytes(results, size);
}

/*
 * Pages after the first are returned to the kernel: writing zeros would
 * allocate those that were never touched. Locked pages are cleared but not
 * returned (EINVAL).
 */
static void
wipe(struct mu_result *result)
{
	uintptr_t begin = (uintptr_t)result->answer;
	uintptr_t end = (uintptr_t)result + result->size;
	uintptr_t rest = (begin + PAGE_MAX - 1) & ~(uintptr_t)(PAGE_MAX - 1);

	if (rest < end &&
	    mu_sys3(SYS_madvise, (long)rest, (long)(end - rest),
		MADV_DONTNEED) == 0)
		end = rest;
	explicit_bzero(result->answer, end - begin);
}

bool
mu_results_free(struct mu_results *results, void *answer)
{
	struct mu_result **link, *result = NULL;
	mu_sigmask mask;

	if (!enter(results, &mask))
		return false;
	for (link = &results->first; *link != NULL; link = &(*link)->next)
		if ((*link)->answer == answer)
			break;
	if (*link != NULL) {
		result = *link;
		/*
		 * Clear it while it is still listed: a pass that takes its
		 * image right after the unlinking would search the mapping.
		 */
		wipe(result);
		__atomic_store_n(link, result->next, __ATOMIC_RELEASE);
	}
	leave(results, &mask);
	if (result == NULL)
		return false;
	mu_sys_munmap(result, result->size);
	return true;
}

void
mu_results_drop(struct mu_results *results, struct mu_entries *entries)
{
	if (results != NULL && entries->packed != NULL)
		mu_results_free(results, entries->packed);
	*entries = (struct mu_entries) { .count = 0 };
}

void
mu_results_each(const struct mu_results *results,
    void (*visit)(void *ctx, struct mu_range range), void *ctx)
{
	const struct mu_result *result;

	for (result = results->first; result != NULL; result = result->next)
		visit(ctx,
		    (struct mu_range) {
			(uintptr_t)result, (uintptr_t)result + result->size });
}

void
FreeUnreachableMemoryInfo(struct UnreachableMemoryInfo *info)
{
	if (info == NULL)
		return;
	if (info->leaks != NULL)
		mu_results_free(&mu_library.results, info->leaks);
	explicit_bzero(info, sizeof(*info));
}
