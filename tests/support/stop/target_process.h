/*
 * A process to be checked: the test program executed again, which shares some
 * mapped memory with the test.
 */
#ifndef TESTS_SUPPORT_STOP_TARGET_PROCESS_H
#define TESTS_SUPPORT_STOP_TARGET_PROCESS_H

#include <check.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#define TARGET_ARGC 3 /* of a program that is the target */

/* SIZE bytes of the memory file FD, or MAP_FAILED. */
void *target_memory(int fd, size_t size);

/*
 * Start it as *PID: its arguments are WHAT and the number of a descriptor, for
 * target_memory(). The result is the same memory here.
 */
void *target_start(long what, size_t size, pid_t *pid);

/* It is alive, and ends now. */
void target_end(pid_t pid);

#endif
