/*
 * The C allocation functions, in place of the C library's. Each has a short
 * path for the common case and leaves the rest to dispatch.h. Stacks begin at
 * the caller of the entry point.
 */
#include <errno.h>

#include "lib/malloc_debug/entry/entry.h"
#include "lib/malloc_debug/unwind/stack_capture_known.h"

ENTRY void *malloc(size_t size);
ENTRY void *calloc(size_t members, size_t size);
ENTRY void *realloc(void *block, size_t size);
ENTRY void *reallocarray(void *block, size_t members, size_t size);
ENTRY void free(void *block);
ENTRY void cfree(void *block);
ENTRY size_t malloc_usable_size(void *block);

#define REQUEST(...) (&(const struct request) { __VA_ARGS__ })

LONG_WAY void *
stacked_anew(void *block, size_t size, enum mu_block_kind kind, uintptr_t pc,
    uintptr_t sp, uintptr_t fp)
{
	uint32_t stack = stack_id((struct stack_start) { pc, sp, fp }, size);

	if (stack != 0)
		entry_put(block, size, stack, kind);
	return block;
}

LONG_WAY void *
stacked_else(void *block, size_t size, enum mu_block_kind kind, uintptr_t pc,
    uintptr_t sp, uintptr_t fp)
{
	uint32_t stack =
	    stack_capture_known_else(pc, sp, fp, stack_id_simple.config);

	if (stack == 0)
		JUMP stacked_anew(block, size, kind, pc, sp, fp);
	entry_put(block, size, stack, kind);
	return block;
}

void *
entry_stacked(void *block, size_t size, enum mu_block_kind kind, uintptr_t pc,
    uintptr_t sp, uintptr_t fp)
{
	const struct stack_id_simple *simple = &stack_id_simple;
	uint32_t stack;

	if (__builtin_expect(block == NULL, 0))
		return NULL;
	if (!LIKELY(size - simple->least <= simple->span))
		JUMP stacked_anew(block, size, kind, pc, sp, fp);
	stack = stack_capture_known(pc, sp, fp, simple->config);
	if (!LIKELY(stack != 0))
		JUMP stacked_else(block, size, kind, pc, sp, fp);
	entry_put(block, size, stack, kind);
	return block;
}

LONG_WAY void *
malloc_stacked(size_t size)
{
	struct stack_start start = STACK_START();

	size += size == 0;
	return entry_stacked(real.malloc(entry_bytes(size)), size,
	    MU_BLOCK_MALLOC, start.pc, start.sp, start.fp);
}

LONG_WAY void *
malloc_long(size_t size)
{
	return dispatch_alloc(CALL("malloc", MU_BLOCK_MALLOC, JOURNAL_MALLOC),
	    REQUEST(.members = 1, .size = size));
}

LONG_WAY void *
malloc_plain(size_t size)
{
	size += size == 0;
	return entry_plain(
	    real.malloc(entry_bytes(size)), size, MU_BLOCK_MALLOC);
}

ENTRY void *
malloc(size_t size)
{
	enum recording_way way = entry_way();

	if (entry_passes(way, size))
		JUMP real.malloc(size);
	if (entry_is_stacked(way))
		JUMP malloc_stacked(size);
	if (entry_is_plain(way))
		JUMP malloc_plain(size);
	JUMP malloc_long(size);
}

LONG_WAY void *
calloc_long(size_t members, size_t size)
{
	enum recording_way way = entry_way();
	size_t bytes = members * size;

	if (entry_is_short(way)) {
		bytes += bytes == 0;
		return entry_record(way, real.calloc(1, entry_bytes(bytes)),
		    bytes, MU_BLOCK_MALLOC, STACK_START());
	}
	return dispatch_alloc(CALL("calloc", MU_BLOCK_MALLOC, JOURNAL_CALLOC),
	    REQUEST(.members = members, .size = size, .zero = true));
}

ENTRY void *
calloc(size_t members, size_t size)
{
	enum recording_way way = entry_way();
	size_t bytes;

	if (__builtin_mul_overflow(members, size, &bytes)) {
		errno = ENOMEM;
		return NULL;
	}
	if (entry_is_plain(way)) {
		bytes += bytes == 0;
		return entry_plain(
		    real.calloc(1, entry_bytes(bytes)), bytes, MU_BLOCK_MALLOC);
	}
	if (entry_passes(way, bytes))
		JUMP real.calloc(members, size);
	JUMP calloc_long(members, size);
}

/* 0: do not record the block. */
static uint32_t
stack_again(enum recording_way way, size_t size, struct stack_start start)
{
	if (way == RECORDING_SAMPLED)
		return sampling_wants(size) ? stack_id_sampled(start, size) : 0;
	return way == RECORDING_STACKS ? stack_id(start, size) : stack_id_off;
}

/*
 * The word is cleared first, as another thread may get the address at once, and
 * restored if the allocator fails. SIZE is not 0.
 */
static void *
resize(
    enum recording_way way, void *block, size_t size, struct stack_start start)
{
	uint32_t word = live_word(block), stack;
	size_t old = word == 0 ? 0 : live_size(block);
	void *moved;

	live_take(block);
	moved = real.realloc(block, entry_bytes(size));
	if (__builtin_expect(moved == NULL, 0)) {
		if (word != 0)
			live_put(block, old, word);
		return NULL;
	}
	stack = stack_again(way, size, start);
	if (stack != 0)
		entry_put(moved, size, stack, MU_BLOCK_MALLOC);
	return moved;
}

LONG_WAY void *
realloc_long(void *block, size_t size)
{
	enum recording_way way = entry_way();

	if (size != 0 && !bootstrap_owns(block) &&
	    (entry_is_short(way) ||
		(way == RECORDING_SAMPLED && inside.depth == 0)))
		return resize(way, block, size, STACK_START());
	return dispatch_realloc(
	    CALL("realloc", MU_BLOCK_MALLOC, JOURNAL_REALLOC), block, size);
}

ENTRY void *
realloc(void *block, size_t size)
{
	if (entry_way() == RECORDING_OFF && !bootstrap_owns(block))
		JUMP real.realloc(block, size);
	JUMP realloc_long(block, size);
}

ENTRY void *
reallocarray(void *block, size_t members, size_t size)
{
	size_t bytes;

	if (__builtin_mul_overflow(members, size, &bytes)) {
		errno = ENOMEM;
		return NULL;
	}
	/* When blocks are sampled, draw here. */
	if (entry_way() == RECORDING_SAMPLED && inside.depth == 0 &&
	    bytes != 0 && !bootstrap_owns(block))
		return resize(RECORDING_SAMPLED, block, bytes, STACK_START());
	return dispatch_realloc(
	    CALL("reallocarray", MU_BLOCK_MALLOC, JOURNAL_REALLOC), block,
	    bytes);
}

LONG_WAY void
free_long(void *block)
{
	dispatch_free(CALL("free", MU_BLOCK_MALLOC, JOURNAL_FREE), block);
}

ENTRY void
free(void *block)
{
	enum recording_way way = entry_way();

	if (LIKELY(entry_frees(way, block)))
		JUMP real.free(block);
	JUMP free_long(block);
}

/* Removed from glibc's headers in 2.26; old programs still call it. */
ENTRY void
cfree(void *block)
{
	dispatch_free(CALL("cfree", MU_BLOCK_MALLOC, JOURNAL_FREE), block);
}

ENTRY size_t
malloc_usable_size(void *block)
{
	if (entry_way() == RECORDING_OFF && !bootstrap_owns(block))
		return real.malloc_usable_size(block);
	return dispatch_usable_size(
	    CALL("malloc_usable_size", MU_BLOCK_MALLOC, JOURNAL_MALLOC), block);
}
