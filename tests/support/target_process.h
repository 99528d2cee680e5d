/*
 * A process to be looked at: the test program executed anew, which maps some
 * memory together with the test.
 */
#ifndef TESTS_SUPPORT_TARGET_PROCESS_H
#define TESTS_SUPPORT_TARGET_PROCESS_H

#include <check.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#define TARGET_ARGC 3 /* of a program that is the target */

/* SIZE bytes of the memory file FD, or MAP_FAILED. */
static inline void *
target_memory(int fd, size_t size)
{
	return mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
}

/*
 * Start it as *PID: its arguments are WHAT and the number of a descriptor, for
 * target_memory(). The result is the same memory here.
 */
static inline void *
target_start(long what, size_t size, pid_t *pid)
{
	int fd = memfd_create("shared", 0);
	char number[24], file[16];
	void *shared;

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(ftruncate(fd, (off_t)size), 0);
	shared = target_memory(fd, size);
	ck_assert_ptr_ne(shared, MAP_FAILED);
	snprintf(number, sizeof(number), "%ld", what);
	snprintf(file, sizeof(file), "%d", fd);
	*pid = fork();
	ck_assert_int_ge(*pid, 0);
	if (*pid == 0) {
		execl("/proc/self/exe", "target", number, file, NULL);
		_exit(127);
	}
	close(fd);
	return shared;
}

/* It is alive, and ends now. */
static inline void
target_end(pid_t pid)
{
	ck_assert_int_eq(waitpid(pid, NULL, WNOHANG), 0);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

#endif
