/*
 * malloc_iterate(), malloc_disable() and malloc_enable(): see
 * memunreachable/malloc_debug.h.
 *
 * Runs in: the original, any thread.
 */
#include <errno.h>
#include <malloc.h>

#include "lib/malloc_debug/gate.h"
#include "lib/malloc_debug/recorder.h"
#include "memunreachable/malloc_debug.h"
#include "mu/sys.h"

/* What was under way when the gate was closed is over soon: a free. */
#define SETTLE_NS (200 * 1000ull)

void
malloc_disable(void)
{
	if (recorder_options.tracking)
		gate_close();
}

void
malloc_enable(void)
{
	gate_open();
}

struct walk {
	uintptr_t base;
	size_t size;
	void (*callback)(uintptr_t base, size_t size, void *arg);
	void *arg;
};

/*
 * A word is taken away before its block is freed: one that still has its word
 * can be asked for its size.
 */
static bool
visit(void *ctx, const struct recorded_block *block)
{
	const struct walk *walk = ctx;
	void *pointer = (void *)block->begin;
	struct recorded_block now;

	if (block->freed || block->begin < walk->base)
		return true;
	if (block->begin - walk->base >= walk->size)
		return false;
	if (recorder_find(pointer, &now) && !now.freed)
		walk->callback(
		    block->begin, malloc_usable_size(pointer), walk->arg);
	return true;
}

int
malloc_iterate(uintptr_t base, size_t size,
    void (*callback)(uintptr_t base, size_t size, void *arg), void *arg)
{
	struct walk walk = { base, size, callback, arg };

	if (!recorder_options.tracking) {
		errno = ENOTSUP;
		return -1;
	}
	gate_close();
	mu_sys_sleep_ns(SETTLE_NS);
	recorder_each(visit, &walk);
	gate_open();
	return 0;
}
