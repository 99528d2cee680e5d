/*
 * The threads that the command traces, of one process or of several.
 *
 * Runs in: the command, in the thread that traces.
 */
#ifndef LIB_COMMAND_TRACED_THREADS_H
#define LIB_COMMAND_TRACED_THREADS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct mu_traced_halt; /* lib/command/halt.h */

struct mu_traced {
	pid_t tid;
	pid_t pid;    /* its process; 0: not known yet */
	bool held;    /* in the stop at its end */
	bool leaving; /* was let go from there by itself */
	bool halted;  /* stopped for another thread of its process */
	bool listens; /* it goes on by PTRACE_LISTEN */
	int signo;    /* else it goes on with this signal; 0: none */
	struct mu_traced_halt *halt; /* it asked for a stop of the others */
};

struct mu_traced_threads {
	struct mu_traced *threads; /* malloc's */
	size_t count, max;
	size_t num_halts;
	long options; /* PTRACE_O_... that they have */
};

/* Pointers to a thread are valid until the next one is added or forgotten. */
struct mu_traced *mu_traced_find(
    const struct mu_traced_threads *threads, pid_t tid);

/* NULL: no memory, and the thread is only let run. */
struct mu_traced *mu_traced_add(
    struct mu_traced_threads *threads, pid_t tid, pid_t pid);

/* The same, unless it is there already; its process is looked up. */
struct mu_traced *mu_traced_known(struct mu_traced_threads *threads, pid_t tid);

void mu_traced_forget(
    struct mu_traced_threads *threads, struct mu_traced *thread);

/* A stopped thread goes on. */
void mu_traced_continue(pid_t tid, int signo);

#endif
