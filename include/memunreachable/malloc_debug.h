/*
 * The calls of libmemunreachable-malloc-debug.so, the recorder: it stands
 * between a program and malloc and records the stack that allocated each block.
 * Names, layouts and options are those of Android's malloc debug. See
 * memunreachable-malloc-debug(7).
 *
 * The recorder must be preloaded or linked into the calling process. What it
 * records depends on LIBC_DEBUG_MALLOC_OPTIONS or MEMUNREACHABLE_MALLOC_DEBUG
 * in the environment at program start. A program that is to run without the
 * recorder as well declares these functions weak or looks them up with dlsym().
 *
 * Sizes are in bytes, addresses are of this process. Every function may be
 * called from any thread at any time, but not from a signal handler.
 */
#ifndef MEMUNREACHABLE_MALLOC_DEBUG_H
#define MEMUNREACHABLE_MALLOC_DEBUG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The library itself is compiled with -fvisibility=hidden. */
#pragma GCC visibility push(default)

/*
 * This bit in the size of a record says that the block was allocated after a
 * fork, in a child of the process that was started under the recorder (on
 * Android: in a child of the zygote). Mask it. For a block of 2 GiB or more the
 * bit belongs to the size, and the record never says that it is a child's.
 */
#define MALLOC_LEAK_INFO_CHILD 0x80000000u

/*
 * Return the live blocks that were captured, one record for each stack and
 * size:
 *
 *	size_t size;                   requested size of each block, with the
 *	                               bit above
 *	size_t num_allocations;        number of blocks
 *	uintptr_t frames[backtrace_size];
 *	                               innermost first, addresses inside the
 *	                               call instructions; 0 after the last
 *
 * *INFO is the array, *OVERALL_SIZE its bytes, *INFO_SIZE the bytes of one
 * record, *TOTAL_MEMORY the sum of size times num_allocations,
 * *BACKTRACE_SIZE the number of frames in every record, as given to the option
 * backtrace. The caller owns the array and releases it with
 * free_malloc_leak_info().
 *
 * Records not allocated after a fork come first. Within these groups records
 * are sorted by size, the largest first; then by the number of frames, the
 * deepest stack first; then by address.
 *
 * Blocks allocated while capturing was off are left out; blocks without any
 * frame are included. With the option backtrace_sample, num_allocations and
 * *TOTAL_MEMORY are estimates for all blocks.
 *
 * All five are 0 if nothing was captured, if the option backtrace is not set,
 * or if memory is exhausted (the last two are reported on stderr). If an
 * argument is NULL nothing is changed, and a line on stderr says so.
 */
void get_malloc_leak_info(uint8_t **info, size_t *overall_size,
    size_t *info_size, size_t *total_memory, size_t *backtrace_size);

/* Release INFO, which may be NULL, and return unused memory to the system. */
void free_malloc_leak_info(uint8_t *info);

/*
 * Write all live blocks and their stacks to FILE, in the format of heap dumps
 * ("Android Native Heap Dump v1.2"), after flushing what FILE has buffered.
 * Returns false and sets errno: EINVAL if FILE is NULL; ENOTSUP if the option
 * backtrace is not set, in which case FILE says how to set it; otherwise the
 * error of the write.
 */
bool write_malloc_leak_info(FILE *file);

/*
 * Write the stack that allocated the live block at POINTER to FRAMES: at most
 * FRAME_COUNT addresses inside the call instructions, innermost first. POINTER
 * must be as malloc returned it. Returns the number of addresses; 0 if the
 * block was not recorded.
 */
ssize_t malloc_backtrace(void *pointer, uintptr_t *frames, size_t frame_count);

/*
 * Call CALLBACK for every live block that begins in [BASE, BASE + SIZE), by
 * address, with its begin, its usable bytes and ARG. Meant for use between
 * malloc_disable() and malloc_enable(); on its own it disables other threads
 * for its duration. CALLBACK may allocate and free; blocks that it allocates
 * may or may not be listed. Returns 0, or -1 with errno ENOTSUP if no option
 * makes the recorder keep records.
 */
int malloc_iterate(uintptr_t base, size_t size,
    void (*callback)(uintptr_t base, size_t size, void *arg), void *arg);

/*
 * Between malloc_disable() and malloc_enable(), every other thread that
 * allocates or frees waits; malloc_disable() first waits for calls that are in
 * progress. The calling thread may allocate. It must not wait for another
 * thread, which may be waiting for malloc: after 10 seconds all threads
 * continue, and a line on stderr says so.
 *
 * Calls nest; each malloc_enable() ends one malloc_disable(). A second thread
 * that calls malloc_disable() waits for the first. In a child of fork() malloc
 * is enabled, unless the forking thread itself had disabled it. If the recorder
 * has no options these functions do nothing.
 */
void malloc_disable(void);
void malloc_enable(void);

/*
 * Malloc hooks: functions that are called instead of malloc and its relatives,
 * with the return address of the call. They take effect if LIBC_HOOKS_ENABLE is
 * set in the environment to a value that does not begin with 0.
 *
 * Each function registers HOOK (NULL for none) and returns the previous one:
 * initially a default, never NULL, which does what malloc would have done and
 * which a hook calls to finish. Allocations and releases by a hook itself
 * bypass all hooks, so a hook may call printf().
 *
 * calloc() and operator new call the malloc hook, operator delete the free
 * hook, all aligned forms the memalign hook; malloc_usable_size() calls none.
 * Hooks run in the thread that allocates, several at a time.
 */
typedef void *(*memunreachable_malloc_hook)(size_t size, const void *caller);
typedef void *(*memunreachable_realloc_hook)(
    void *pointer, size_t size, const void *caller);
typedef void (*memunreachable_free_hook)(void *pointer, const void *caller);
typedef void *(*memunreachable_memalign_hook)(
    size_t alignment, size_t size, const void *caller);

memunreachable_malloc_hook memunreachable_set_malloc_hook(
    memunreachable_malloc_hook hook);
memunreachable_realloc_hook memunreachable_set_realloc_hook(
    memunreachable_realloc_hook hook);
memunreachable_free_hook memunreachable_set_free_hook(
    memunreachable_free_hook hook);
memunreachable_memalign_hook memunreachable_set_memalign_hook(
    memunreachable_memalign_hook hook);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
