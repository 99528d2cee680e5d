/*
 * Seccomp filters like those of sandboxes: a list of system calls, and what
 * happens to a caller.
 */
#ifndef TESTS_SUPPORT_ENVIRONMENTS_ENVIRONMENT_FILTERS_H
#define TESTS_SUPPORT_ENVIRONMENTS_ENVIRONMENT_FILTERS_H

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Newer than some kernel headers; the number is the same on every CPU. */
#ifndef SYS_pidfd_getfd
#define SYS_pidfd_getfd 438
#endif

/* For all threads there are; false if the kernel will not have it. */
bool filter_install(const int *calls, size_t num_calls, unsigned action);

/* ACTION: one of filter_actions. */
bool filter_deny(const char *action, bool container);

#endif
