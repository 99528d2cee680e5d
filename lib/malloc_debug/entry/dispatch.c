/*
 * Checks, in this order: is the recorder active, is the gate closed, are there
 * hooks, is there a journal.
 */
#include "lib/malloc_debug/entry/dispatch.h"

#include <errno.h>
#include <string.h>

#include "lib/malloc_debug/entry/careful.h"
#include "lib/malloc_debug/entry/hooks.h"
#include "lib/malloc_debug/entry/startup.h"
#include "lib/malloc_debug/shadow/gate.h"
#include "lib/malloc_debug/shadow/live.h"
#include "lib/malloc_debug/shadow/recording.h"
#include "lib/malloc_debug/state/bootstrap.h"
#include "lib/malloc_debug/state/inside.h"
#include "lib/malloc_debug/state/real.h"
#include "lib/malloc_debug/state/state.h"

static bool
unborn(void)
{
	return __atomic_load_n(&recording_way, __ATOMIC_ACQUIRE) ==
	    RECORDING_NOT_STARTED;
}

static bool
is_inside(const struct call *call)
{
	return inside.depth != 0 && inside_still(call->frame);
}

/*
 * Before main() this is false; later, such calls wait at the gate and call
 * hooks.
 */
static bool
is_programs(const struct call *call)
{
	if (is_inside(call))
		return false;
	if (__atomic_load_n(&gate_closed, __ATOMIC_ACQUIRE) != 0)
		gate_wait();
	return true;
}

static const void *
caller(const struct call *call)
{
	return (const void *)call->start.pc;
}

static bool
hooked_alloc(
    const struct call *call, const struct request *request, void **block)
{
	if (!hooks_active)
		return false;
	if (request->zero)
		return hooks_calloc(
		    request->members, request->size, caller(call), block);
	if (request->alignment != 0)
		return hooks_memalign(
		    request->alignment, request->size, caller(call), block);
	return hooks_malloc(request->size, caller(call), block);
}

static void
journal_alloc(const struct call *call, const struct request *request,
    struct journal_slot slot, const void *block)
{
	if (call->op == JOURNAL_CALLOC)
		journal_end(
		    slot, call->op, block, request->members, request->size);
	else if (call->op == JOURNAL_MEMALIGN)
		journal_end(
		    slot, call->op, block, request->alignment, request->size);
	else
		journal_end(slot, JOURNAL_MALLOC, block, request->size, 0);
}

static void *
alloc_unborn(const struct request *request)
{
	size_t size;
	void *block;

	if (__builtin_mul_overflow(request->members, request->size, &size)) {
		errno = ENOMEM;
		return NULL;
	}
	if (__atomic_load_n(&real.malloc, __ATOMIC_ACQUIRE) == NULL)
		return bootstrap_alloc(request->alignment, size);
	block = careful_bare(request);
	if (block != NULL)
		startup_note(block, size);
	return block;
}

static void *
alloc(const struct call *call, const struct request *request)
{
	struct journal_slot slot;
	void *block;

	if (unborn()) {
		startup_now();
		if (unborn())
			return alloc_unborn(request);
	}
	if (!is_programs(call))
		return careful_bare(request);
	if (hooked_alloc(call, request, &block))
		return block;
	slot = journal_begin();
	block =
	    recording_on ? careful_alloc(call, request) : careful_bare(request);
	if (block != NULL)
		journal_alloc(call, request, slot, block);
	return block;
}

void *
dispatch_alloc(const struct call *call, const struct request *request)
{
	int error = errno;
	void *block = alloc(call, request);

	if (block != NULL)
		errno = error;
	return block;
}

static void *
realloc_unborn(void *block, size_t size)
{
	void *moved = real.realloc(block, size);

	if (moved != NULL || size == 0)
		startup_forget(block);
	if (moved != NULL)
		startup_note(moved, size);
	return moved;
}

static void
free_known(const struct call *call, void *block)
{
	if (live_directory == NULL)
		real.free(block);
	else
		careful_free(call, block);
}

static void
free_block(const struct call *call, void *block)
{
	struct journal_slot slot;

	if (unborn())
		startup_now();
	if (bootstrap_owns(block))
		return;
	if (unborn())
		startup_forget(block);
	if (!is_programs(call)) {
		free_known(call, block);
		return;
	}
	if (hooks_active && hooks_free(block, caller(call)))
		return;
	slot = journal_begin();
	free_known(call, block);
	journal_end(slot, JOURNAL_FREE, block, 0, 0);
}

void
dispatch_free(const struct call *call, void *block)
{
	int error = errno;

	if (block != NULL)
		free_block(call, block);
	errno = error;
}

static void *
from_bootstrap(const struct call *call, const void *block, size_t size)
{
	struct request request = { .members = 1, .size = size };
	size_t old = bootstrap_size(block);
	void *moved = alloc(call, &request);

	if (moved != NULL)
		memcpy(moved, block, old < size ? old : size);
	return moved;
}

static void *
realloc_inside(const struct call *call, void *block, size_t size)
{
	return live_directory == NULL ? real.realloc(block, size)
				      : careful_realloc(call, block, size);
}

/* As in Android's malloc debug, realloc(p, 0) frees. */
static void *
realloc_block(const struct call *call, void *block, size_t size)
{
	struct journal_slot slot;
	void *moved = NULL;

	if (is_inside(call))
		return realloc_inside(call, block, size);
	slot = journal_begin();
	if (size == 0)
		free_known(call, block);
	else
		moved = realloc_inside(call, block, size);
	if (moved != NULL || size == 0)
		journal_end(
		    slot, JOURNAL_REALLOC, moved, (uintptr_t)block, size);
	return moved;
}

void *
dispatch_realloc(const struct call *call, void *block, size_t size)
{
	struct request request = { .members = 1, .size = size };
	int error = errno;
	void *moved;

	if (unborn())
		startup_now();
	if (!unborn() && is_programs(call) && hooks_active &&
	    hooks_realloc(block, size, caller(call), &moved))
		return moved;
	if (block == NULL)
		moved = alloc(call, &request);
	else if (bootstrap_owns(block))
		moved = from_bootstrap(call, block, size);
	else if (unborn())
		moved = realloc_unborn(block, size);
	else
		moved = realloc_block(call, block, size);
	if (moved != NULL || size == 0)
		errno = error;
	return moved;
}

size_t
dispatch_usable_size(const struct call *call, void *block)
{
	if (block == NULL)
		return 0;
	if (bootstrap_owns(block))
		return bootstrap_size(block);
	if (unborn())
		startup_now();
	if (__atomic_load_n(&gate_closed, __ATOMIC_ACQUIRE) != 0)
		gate_wait();
	return live_directory == NULL ? real.malloc_usable_size(block)
				      : careful_usable_size(call, block);
}
