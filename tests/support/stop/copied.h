/*
 * A busy victim that is copied: its memory changes all the time, it watches for
 * unexpected children and signals, and writes what it saw to shared memory.
 */
#ifndef TESTS_SUPPORT_STOP_COPIED_H
#define TESTS_SUPPORT_STOP_COPIED_H

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/uio.h>

#include "ptrace/remote/process_copy_end.h"
#include "tests/support/stop/captured.h"

#define WORDS 65536 /* of memory that changes */
#define WORKERS 3   /* and the leader, which watches */

struct copied_shared {
	int quit, started, wrong, steps;
	int sigchlds, children; /* seen by the victim */
	uint64_t sums[WORKERS];
	long words[16]; /* for what a test is about */
};

struct copied {
	pid_t pid;
	struct copied_shared *shared;
};

extern struct copied_shared *copied_shared;
extern struct mu_process_copy copied_copy;

/* All in one place, so that parent and child know it. */
extern uint64_t copied_words[WORKERS][WORDS];

/* With FLAGS of clone(), such as a namespace; pid -1: not permitted. */
struct copied copied_start_with(
    long flags, void (*prepare)(struct copied_shared *));

struct copied copied_start(void (*prepare)(struct copied_shared *));

/* It works on. */
void copied_goes_on(struct copied *victim);

/* Children that PID has, of any kind, in any state. */
int children_of(pid_t pid);

/* Nothing was seen, nothing is left, and all of its sums were right. */
void copied_end(struct copied *victim);

void must_copy(void);
void must_not_copy(enum mu_status expected, const char *word);

/* End and reap the copy, if there is one. */
enum mu_status drop_copy(pid_t pid);
void must_drop(pid_t pid);

/* SIZE bytes of PID at ADDRESS, through /proc. */
ssize_t read_memory(pid_t pid, const void *address, void *buffer, size_t size);

#endif
