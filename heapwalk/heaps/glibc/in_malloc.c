#include "heapwalk/heaps/glibc/in_malloc.h"

#include <string.h>
#include <sys/syscall.h>

#include "heapwalk/heaps/glibc/layout.h"
#include "heapwalk/heaps/glibc/libc.h"
#include "heapwalk/subject/classify.h"
#include "heapwalk/subject/handlers.h"
#include "mu/arch/cpu.h"
#include "mu/arch/unwind.h"

/*
 * Bytes of malloc's stack frames. From __lll_lock_wait_private() or sysmalloc()
 * up to free(), realloc() and posix_memalign() they are below 600 on x86-64
 * (2.31 to 2.41).
 */
#define FRAMES 1024

bool
mu_call_of_malloc(long call)
{
	static const long calls[] = { SYS_brk, SYS_mmap, SYS_munmap, SYS_mremap,
		SYS_mprotect, SYS_madvise };
	size_t i;

	for (i = 0; i < sizeof(calls) / sizeof(*calls); i++)
		if (calls[i] == call)
			return true;
	return false;
}

static bool
is_of_libc(const struct mu_snapshot *snap, const struct mu_libc *libcs,
    size_t count, uintptr_t pc)
{
	const struct mu_mapping *mapping = mu_snapshot_mapping(snap, pc);
	size_t i;

	if (mapping == NULL || !mapping->executable || mapping->inode == 0)
		return false;
	for (i = 0; i < count; i++)
		if (libcs[i].file == NULL ||
		    (mu_range_has(libcs[i].range, pc) &&
			mu_mapping_same_file(libcs[i].file, mapping)))
			return true;
	return false;
}

/*
 * True for a thread in a system call whose number is not known. In a signal
 * frame, or after a return from a handler (rt_sigreturn() leaves no number),
 * the pc is after the call instruction or, if the call is to be restarted, at
 * it. *CALL is the number that is loaded before it, or -1.
 */
static bool
is_at_call(const struct mu_snapshot *snap, uintptr_t pc, long *call)
{
	const size_t size = MU_CALL_CODE_SIZE;
	const unsigned char *view;
	size_t i;

	for (i = 0; i < 2; i++, pc += size) {
		view = mu_snapshot_view(snap, pc - size - MU_CALL_LOAD_SIZE,
		    MU_CALL_LOAD_SIZE + size);
		if (view == NULL ||
		    memcmp(view + MU_CALL_LOAD_SIZE, MU_CALL_CODE, size) != 0)
			continue;
		*call = mu_arch_call_loaded(view);
		return true;
	}
	return false;
}

/*
 * The address of the lock is the call's first argument. Other registers may
 * still hold an arena's address from an earlier malloc() of a thread that waits
 * for something else.
 */
static bool
waits_for_arena(const struct mu_thread *thread, const struct mu_heap *heap)
{
	size_t i;

	if (thread->call >= 0 && thread->call != SYS_futex)
		return false;
	for (i = 0; i < heap->num_locks; i++)
		if (thread->argument == heap->locks[i])
			return true;
	return false;
}

static bool
is_inside(const struct mu_snapshot *snap, const struct mu_thread *thread,
    const struct mu_heap *heap)
{
	long call = thread->call;

	if (call < 0 && !is_at_call(snap, thread->pc, &call))
		return true;
	return mu_call_of_malloc(call) || waits_for_arena(thread, heap);
}

/* Check what HANDLER interrupted. */
static bool
add_interrupted(struct mu_ranges *frames, const struct mu_snapshot *snap,
    const struct mu_libc *libcs, size_t count, const struct mu_handler *handler)
{
	uintptr_t frame = handler->frame + sizeof(uintptr_t) + MU_SIGNAL_FRAME;
	uintptr_t sp = handler->sp;

	/*
	 * The return address is in a register at first; the handler may have
	 * stored it anywhere.
	 */
	if (MU_UNWIND_LINK)
		return mu_ranges_add(
		    frames, (struct mu_range) { handler->frame, handler->end });
	if (sp <= MU_RED_ZONE || sp >= UINTPTR_MAX - FRAMES ||
	    !is_of_libc(snap, libcs, count, handler->pc))
		return true;
	return mu_ranges_add(frames,
		   (struct mu_range) { frame, frame + sizeof(ucontext_t) }) &&
	    mu_ranges_add(
		frames, (struct mu_range) { sp - MU_RED_ZONE, sp + FRAMES });
}

/* Check the signal handlers of THREAD, which may be nested. */
static bool
add_handlers(struct mu_ranges *frames, const struct mu_snapshot *snap,
    const struct mu_libc *libcs, size_t count, const struct mu_thread *thread)
{
	struct mu_handler handler;

	mu_handler_open(&handler, snap, thread->pc, thread->sp);
	while (mu_handler_next(&handler, snap))
		if (!add_interrupted(frames, snap, libcs, count, &handler))
			return false;
	return true;
}

static bool
add_thread(struct mu_ranges *frames, const struct mu_snapshot *snap,
    const struct mu_heap *heap, const struct mu_libc *libcs, size_t count,
    const struct mu_thread *thread)
{
	if (thread->calling || thread->pc == 0 || thread->sp <= MU_RED_ZONE ||
	    thread->sp >= UINTPTR_MAX - FRAMES)
		return true;
	if (is_of_libc(snap, libcs, count, thread->pc) &&
	    is_inside(snap, thread, heap) &&
	    !mu_ranges_add(frames,
		(struct mu_range) {
		    thread->sp - MU_RED_ZONE, thread->sp + FRAMES }))
		return false;
	return add_handlers(frames, snap, libcs, count, thread);
}

bool
mu_glibc_refers_by_header(
    const struct mu_blocks *blocks, uintptr_t word, struct mu_block *to)
{
	uintptr_t begin = word + MU_GLIBC_HEADER;

	/* A header's first word may belong to the block before it. */
	if (mu_blocks_find(blocks, word, to) &&
	    to->range.end - word > sizeof(word))
		return false;
	return mu_range_has(blocks->envelope, begin) &&
	    mu_blocks_find(blocks, begin, to) && to->range.begin == begin;
}

bool
mu_in_malloc_find(struct mu_ranges *frames, const struct mu_heap *heap,
    const struct mu_snapshot *snap)
{
	struct mu_libc libcs[MU_LIBCS_MAX];
	const struct mu_thread *thread = snap->threads;
	const struct mu_thread *end = thread + snap->num_threads;
	size_t count = mu_libcs_find(snap, libcs);

	for (; thread < end; thread++)
		if (!add_thread(frames, snap, heap, libcs, count, thread))
			return false;
	return true;
}
