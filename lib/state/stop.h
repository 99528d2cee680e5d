/*
 * The stops of a pass: malloc frozen, all threads but the asking one stopped.
 * What one try has found out decides how the next one stops.
 */
#ifndef LIB_STATE_STOP_H
#define LIB_STATE_STOP_H

#include "heapwalk/heaps/table/table.h"
#include "heapwalk/memory/self.h"
#include "heapwalk/subject/snapshot.h"
#include "mu/sys.h"
#include "ptrace/live/threads.h"
#include "ptrace/live/tracer_stop.h"

/*
 * A thread that ends the program may have interrupted malloc or a pass, which
 * then do not end. Longer if other threads hardly run.
 */
#define MU_STOP_BRIEF_NS (MU_NS_PER_SEC)

/* The least time of a stop at the end of the program, whatever max_pause is. */
#define MU_STOP_AT_END_NS (2 * MU_NS_PER_SEC)

struct mu_stop {
	/* Freeze. */
	struct mu_snapshot self; /* used to find the allocators */
	struct mu_memory_self self_memory;
	struct mu_heaps heaps;

	/* Stop. */
	int method;        /* enum MemunreachableStop */
	uint64_t until_ns; /* when the threads must have stopped */
	uint64_t pause_ns; /* the longest stop; see mu_image_paused() */
	mu_sigmask blocked_signals; /* that the asking thread blocks itself */
	unsigned tries;             /* number of attempts to stop the threads */
	pid_t collector;            /* 0: there was none */
	struct mu_tracer_stop tracer_stop; /* by the command that traces us */
	bool at_end;        /* the command that traces us looks if we cannot */
	bool brief, hold;   /* see lib/pass/request.h */
	bool locked;        /* it has locked memory, as by mlockall() */
	bool single;        /* the process had one thread when the look began */
	bool filtered;      /* the asking thread has a seccomp filter, or may */
	bool traced;        /* the asking thread is, or may be */
	bool may_be_urgent; /* its helpers may have a real-time priority */
	bool alone; /* no other thread or process had this memory when the image
		       was taken */
	bool expired; /* a thread did not stop, but time is left */
	struct mu_late_threads late; /* by ptrace */
	pid_t held;     /* of them: stopped before malloc is frozen; 0: none */
	bool blocked;   /* a thread blocks every signal, perhaps briefly */
	bool abandoned; /* a thread in the handler still uses the arena */

	/*
	 * Alternate signal stacks. With a stop by signal they are in the
	 * frames; with ptrace the threads are made to call sigaltstack().
	 */
	uintptr_t own_stack_begin; /* of the asking thread; 0: none */
	size_t unasked;            /* threads whose stack is not known */
	unsigned stack_tries;      /* stops made to find them */
	bool ask_stacks;           /* read them in the next stop */
	bool prefer_signal;        /* for threads that could not be asked */
};

#endif
