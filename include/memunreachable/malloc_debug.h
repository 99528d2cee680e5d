/*
 * The recorder's own calls: libmemunreachable-malloc-debug.so, which stands
 * between a program and malloc and knows of every block who allocated it. With
 * the names, the layouts and the options of Android's malloc debug. See
 * memunreachable-malloc-debug(7).
 *
 * The calls are about the calling process, where the recorder is preloaded or
 * linked; what is recorded depends on its environment,
 * LIBC_DEBUG_MALLOC_OPTIONS or MEMUNREACHABLE_MALLOC_DEBUG, as it was at the
 * start. A program that is to run without the recorder as well declares them
 * weak, or asks dlsym().
 *
 * All sizes are bytes, all addresses of this process. Every call may be made
 * from any thread at any time, but not from a signal handler.
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
 * This bit of a record's size: the block was allocated in a process that was
 * forked from the one that was started under the recorder (Android: by a child
 * of the zygote). Mask it. A block of 2 GiB or more has the bit of its size
 * there; its record never says that it is a child's.
 */
#define MALLOC_LEAK_INFO_CHILD 0x80000000u

/*
 * The live blocks that have been captured, one record for each stack and size:
 *
 *	size_t size;                   of each block, as asked for, and the
 *	                               bit above
 *	size_t num_allocations;        how many there are
 *	uintptr_t frames[backtrace_size];
 *	                               innermost first, addresses inside the
 *	                               calls; 0 behind the last
 *
 * *INFO is the array, *OVERALL_SIZE its bytes, *INFO_SIZE those of one record,
 * *TOTAL_MEMORY the sum of size times num_allocations, *BACKTRACE_SIZE the
 * frames of every record, which is what the option backtrace says. The array
 * is the caller's, to be given to free_malloc_leak_info().
 *
 * First those not allocated after a fork, then by size, the largest first;
 * then those with a stack, the deepest first; then by address.
 *
 * Blocks allocated while capturing was off are left out; those without any
 * frame are in. Under the option backtrace_sample, num_allocations and
 * *TOTAL_MEMORY are estimates of what all blocks would give.
 *
 * All five are 0 if nothing was captured, if the option backtrace is missing
 * or no memory is left (both are said on stderr). If an argument is NULL
 * nothing is changed, which is said as well.
 */
void get_malloc_leak_info(uint8_t **info, size_t *overall_size,
    size_t *info_size, size_t *total_memory, size_t *backtrace_size);

/* Release INFO, which may be NULL, and give unused memory to the system. */
void free_malloc_leak_info(uint8_t *info);

/*
 * Write all live blocks and their stacks to FILE, in the format of heap dumps
 * ("Android Native Heap Dump v1.2"). What FILE has buffered is written first.
 * False, with errno: EINVAL if FILE is NULL; ENOTSUP if the option backtrace is
 * missing: then what to do is written to FILE; otherwise why it could not be
 * written.
 */
bool write_malloc_leak_info(FILE *file);

/*
 * The stack by which the live block at POINTER was allocated: at most
 * FRAME_COUNT addresses inside the calls, innermost first, are written to
 * FRAMES. Returns how many were; 0 if nothing is known of POINTER, which must
 * be as malloc returned it.
 */
ssize_t malloc_backtrace(void *pointer, uintptr_t *frames, size_t frame_count);

/*
 * Call CALLBACK for every live block that begins in [BASE, BASE + SIZE), in the
 * order of addresses: where it begins, its usable bytes, and ARG. Meant for
 * between malloc_disable() and malloc_enable(); by itself it has their effect
 * for its duration. CALLBACK may allocate and free; what it allocates may or
 * may not be listed. Returns 0; -1, with errno ENOTSUP, if no option makes the
 * recorder know of blocks.
 */
int malloc_iterate(uintptr_t base, size_t size,
    void (*callback)(uintptr_t base, size_t size, void *arg), void *arg);

/*
 * From malloc_disable() until malloc_enable(), every other thread that
 * allocates or frees waits. Calls that were under way come to their end
 * meanwhile. The calling thread may allocate; it must not wait for another
 * thread, which may be waiting for it: after 10 seconds all go on, and a line
 * on stderr says so. Nests; each malloc_enable() ends one malloc_disable(). A
 * second thread that calls malloc_disable() waits for the first. A child
 * made by fork() starts enabled unless the forking thread was the one. Without
 * options they do nothing.
 */
void malloc_disable(void);
void malloc_enable(void);

/*
 * Malloc hooks: functions that are called in place of malloc and its like,
 * with the address that the call returns to. They act where LIBC_HOOKS_ENABLE
 * is set in the environment to anything that does not begin with 0.
 *
 * Each call registers HOOK, NULL for none, and returns what was registered
 * before: at first a default, never NULL, which does what malloc would have
 * done. A hook ends by calling that. What a hook itself allocates or frees
 * passes by all hooks, so that it may call printf().
 *
 * calloc() and operator new go to the malloc hook, operator delete to the free
 * hook, all aligned forms to the memalign hook; malloc_usable_size() to none.
 * Hooks are called in whichever thread allocates, several at a time.
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
