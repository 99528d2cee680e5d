/*
 * malloc_iterate(), malloc_disable() and malloc_enable(): see
 * memunreachable/malloc_debug.h.
 */
#include <errno.h>
#include <malloc.h>

#include "lib/malloc_debug/shadow/gate.h"
#include "lib/malloc_debug/shadow/recorder.h"
#include "memunreachable/malloc_debug.h"
#include "mu/sys.h"

/* A release that was in progress when the gate was closed finishes soon. */
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
 * A word is cleared before its block is freed, so a block that still has its
 * word has a valid size.
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
