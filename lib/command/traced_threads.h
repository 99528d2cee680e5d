/*
 * The threads that the command traces, of one process or of several.
 *
 * Runs in: the command, in the thread that traces.
 */
#ifndef LIB_COMMAND_TRACED_THREADS_H
#define LIB_COMMAND_TRACED_THREADS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct mu_traced_stop; /* lib/command/tracer_stop.h */
struct mu_last_signal; /* lib/command/last_signal.h */

struct mu_traced {
	pid_t tid;
	pid_t pid;    /* its process; 0: not known yet */
	bool held;    /* in the stop at its end */
	bool leaving; /* was released from there by itself */
	bool shown;   /* so was the end of its process, with this code */
	unsigned long code;
	bool stopped; /* kept stopped, for another thread or by its signal */
	bool listens; /* continue it by PTRACE_LISTEN */
	bool asked;   /* it has asked to be traced: lib/command/forked.h */
	bool in_call; /* stopped within vfork(): it can make no other call */
	int signo;    /* otherwise continue it with this signal; 0: none */
	struct mu_traced_stop *stop; /* it has asked for a stop of the others */
	struct mu_last_signal *last; /* its signal ends the process */
	unsigned steps; /* that it was let run, for another one's signal */
	bool stepping;  /* the latest is to end by a SIGTRAP of the kernel's */
};

struct mu_traced_threads {
	struct mu_traced *threads; /* from malloc */
	size_t count, max;
	size_t num_stops, num_last; /* threads with these */
	long options;               /* PTRACE_O_... that are set */
	int64_t filters;            /* see ptrace/live/threads.h */
};

/* Pointers to a thread are valid until another one is added or removed. */
struct mu_traced *mu_traced_find(
    const struct mu_traced_threads *threads, pid_t tid);

/*
 * The thread of process PID that follows LAST in the list, or the first one if
 * LAST is NULL; NULL: there are no more.
 */
struct mu_traced *mu_traced_next(const struct mu_traced_threads *threads,
    pid_t pid, const struct mu_traced *last);

/* Returns NULL without memory; the thread then just runs on. */
struct mu_traced *mu_traced_add(
    struct mu_traced_threads *threads, pid_t tid, pid_t pid);

/* The same, unless it is known already; looks up its process. */
struct mu_traced *mu_traced_known(struct mu_traced_threads *threads, pid_t tid);

/* Remove THREAD; other pointers to threads are invalid afterwards. */
void mu_traced_forget(
    struct mu_traced_threads *threads, struct mu_traced *thread);

/* Continue a stopped thread. */
void mu_traced_continue(pid_t tid, int signo);

/* Continue THREAD as its signo and listens say. */
void mu_traced_resume(struct mu_traced *thread);

/* The same for the threads of process PID that are kept stopped. */
void mu_traced_resume_all(struct mu_traced_threads *threads, pid_t pid);

#endif
