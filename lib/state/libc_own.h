/*
 * What libc exports and no header of every release declares.
 *
 * Runs in: original.
 */
#ifndef LIB_STATE_LIBC_OWN_H
#define LIB_STATE_LIBC_OWN_H

/*
 * What pthread_atfork() calls: that is in no libc.so, and before 2.34 in a part
 * of libpthread (nptl/pthread_atfork.c in glibc).
 */
int __register_atfork(void (*prepare)(void), void (*parent)(void),
    void (*child)(void), void *dso_handle);

/*
 * False once the program has started a thread (glibc 2.32); in the child of a
 * fork() as it was in the parent.
 */
extern const char __libc_single_threaded __attribute__((weak));

#endif
