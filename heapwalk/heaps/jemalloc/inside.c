/*
 * From outside jemalloc cannot be stopped: a thread may be in the middle of a
 * change that no counter shows. tcaches are changed without a lock; while one
 * is filled, its new blocks are in no list at all.
 *
 * In a library of its own, a thread is inside if its pc, or a return address
 * above its stack pointer while it is in libc, is in the library's code. Linked
 * into a program, jemalloc's code cannot be told from other code: any thread
 * that runs may be inside. A thread in a system call that jemalloc does not
 * make is not.
 */
#include <string.h>
#include <sys/syscall.h>

#include "heapwalk/heaps/jemalloc/heap.h"
#include "heapwalk/subject/classify.h"
#include "heapwalk/subject/handlers.h"
#include "mu/arch/cpu.h"

/*
 * Bytes of stack from a function of libc that jemalloc calls up to the frame of
 * jemalloc that called it: pthread_mutex_lock(), memmove(), madvise().
 */
#define FRAMES 1024

/* From a pthread_t to the word of the condition variable behind it. */
#define BEFORE_CONDITION 56

static bool
is_call_of_jemalloc(long call)
{
	static const long calls[] = { SYS_mmap, SYS_munmap, SYS_madvise,
		SYS_mremap, SYS_mprotect, SYS_brk, SYS_sched_yield,
		SYS_clock_gettime };
	size_t i;

	for (i = 0; i < sizeof(calls) / sizeof(*calls); i++)
		if (calls[i] == call)
			return true;
	return false;
}

/* The lock that a thread waits for: that of the tree, or one of an arena. */
static bool
is_lock(const struct mu_je_walk *walk, uintptr_t address)
{
	return mu_ranges_has(&walk->bases, address) ||
	    address ==
	    walk->je.root - MU_JE_MUTEX_SIZE + walk->je.release->lock;
}

static bool
is_code(const struct mu_je_walk *walk, uintptr_t address)
{
	const struct mu_mapping *mapping =
	    mu_snapshot_mapping(walk->snap, address);

	return mapping != NULL && mapping->executable &&
	    mu_mapping_same_file(mapping, walk->je.found.file);
}

/* libc, the dynamic linker (symbols that are bound lazily), the vdso. */
static bool
is_called_by_jemalloc(const struct mu_je_walk *walk, uintptr_t pc)
{
	const struct mu_mapping *mapping = mu_snapshot_mapping(walk->snap, pc);
	const char *name = mapping == NULL ? "" : mu_path_base(mapping->name);

	return mu_starts_with(name, "libc.so") ||
	    mu_starts_with(name, "libc-2.") ||
	    mu_starts_with(name, "libpthread") || mu_starts_with(name, "ld-") ||
	    mu_starts_with(name, "[vdso]");
}

static bool
returns_to_code(const struct mu_je_walk *walk, uintptr_t sp)
{
	uintptr_t at = (sp + 7) & ~(uintptr_t)7, end = at + FRAMES, word;

	for (; at < end && mu_snapshot_word(walk->snap, at, &word);
	     at += sizeof(word))
		if (is_code(walk, word))
			return true;
	return false;
}

/* A thread that runs at PC, or is in a call that jemalloc makes. */
static bool
may_be_inside(const struct mu_je_walk *walk, uintptr_t pc, uintptr_t sp)
{
	bool library = mu_starts_with(
	    mu_path_base(walk->je.found.file->name), "libjemalloc");

	if (is_code(walk, pc))
		return true;
	return is_called_by_jemalloc(walk, pc) &&
	    (!library || returns_to_code(walk, sp));
}

/*
 * A background thread waits for work on a condition variable in the tables,
 * with no change begun. Its pthread_t is before that
 * (background_thread_info_t), which on x86-64 is its thread pointer.
 */
static bool
waits_for_work(const struct mu_je_walk *walk, const struct mu_thread *thread)
{
	uintptr_t end = thread->argument & ~(uintptr_t)7, at;

	for (at = end - BEFORE_CONDITION; thread->tp != 0 && at < end;
	     at += sizeof(at))
		if (mu_word_at(walk->snap, at) == thread->tp)
			return true;
	return false;
}

static bool
is_inside(const struct mu_je_walk *walk, const struct mu_thread *thread)
{
	long call = thread->call;

	if (call == SYS_futex ? !is_lock(walk, thread->argument) ||
		    waits_for_work(walk, thread)
			      : call >= 0 && !is_call_of_jemalloc(call))
		return false;
	return may_be_inside(walk, thread->pc, thread->sp);
}

/* A handler of a signal runs: was the thread inside? Handlers may be nested. */
static bool
was_inside(const struct mu_je_walk *walk, const struct mu_thread *thread)
{
	struct mu_handler handler;

	mu_handler_open(&handler, walk->snap, thread->pc, thread->sp);
	while (mu_handler_next(&handler, walk->snap))
		if (may_be_inside(walk, handler.pc, handler.sp))
			return true;
	return false;
}

enum mu_status
mu_je_inside(const struct mu_je_walk *walk)
{
	const struct mu_thread *thread = walk->snap->threads;
	const struct mu_thread *end = thread + walk->snap->num_threads;

	for (; thread < end; thread++)
		if (thread->pc != 0 &&
		    (is_inside(walk, thread) || was_inside(walk, thread)))
			return mu_why(walk->why, MU_ERR_HEAP_INCONSISTENT,
			    "thread %d was or may have been inside jemalloc" MU_CURE
			    "ask again when it does less",
			    (int)thread->tid);
	return MU_OK;
}
