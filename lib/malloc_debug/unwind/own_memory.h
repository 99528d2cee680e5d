/*
 * This process's memory, which another thread may unmap at any time.
 *
 * Read by process_vm_readv(). Under a seccomp filter, which may kill for that,
 * /proc/self/mem is read: no filter under which a program starts forbids what
 * the loader and Python do with each file, openat(), lseek(), read(), close().
 * No security module denies it to the process itself (kernel/ptrace.c,
 * __ptrace_may_access).
 *
 * The file is open only for the length of a walk. A child of fork() does not
 * have it: it would be the memory of its parent.
 *
 * Never allocates, takes no lock, can be used in a signal handler.
 */
#ifndef LIB_MALLOC_DEBUG_UNWIND_OWN_MEMORY_H
#define LIB_MALLOC_DEBUG_UNWIND_OWN_MEMORY_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Call before main(). */
void own_memory_init(void);

/* Returns a handle, -EAGAIN if many are open or a fork is made, or -errno. */
int own_memory_open(void);

/* Returns the bytes read, possibly fewer, -EFAULT, or another -errno. */
ssize_t own_memory_read(
    int handle, void *buffer, size_t size, uintptr_t address);

/* Call for each handle, in the thread that has opened it. */
void own_memory_close(int handle);

/* Before each fork(); waits for threads that open or close a file. */
void own_memory_fork(void);

/* Behind it, in the parent. */
void own_memory_fork_parent(void);

/* In the child, which has one thread. */
void own_memory_fork_child(void);

#endif
