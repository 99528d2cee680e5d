/*
 * One pass: the data that original, collector and sweeper share.
 *
 * Lies on a separate stack, or below the frames of the calling thread that are
 * searched. The collector sees it because it shares the memory, the sweeper has
 * a copy.
 */
#ifndef LIB_PASS_PASS_H
#define LIB_PASS_PASS_H

#include "heapwalk/heaps/table/table.h"
#include "heapwalk/memory/self.h"
#include "heapwalk/subject/snapshot.h"
#include "lib/pipe/entries.h"
#include "lib/state/room.h"
#include "memunreachable/memunreachable.h"
#include "mu/arch/cpu.h"
#include "mu/arena.h"
#include "mu/log.h"
#include "mu/status.h"
#include "mu/sys.h"

/* The context of the asking thread, taken where the program called us. */
struct mu_caller {
	uintptr_t sp; /* 0: none (the thread of a signal) */
	uintptr_t tp;
	uintptr_t saved[MU_CALLEE_SAVED];
};

/* Which of a pass's words are logged. */
enum mu_log_policy {
	MU_LOG_POLICY_QUIET, /* none, unless verbosity is set */
	MU_LOG_POLICY_LEAKS, /* the report, if not every block is reachable */
	MU_LOG_POLICY_FULL,  /* the report; with verbosity=1 the steps, too */
};

struct mu_references; /* lib/pipe/why_pipe.h */

/* Every unreachable block; memory of mu_library.results, or NULL. */
struct mu_unreachable {
	struct mu_range *blocks; /* by address */
	size_t count;
};

struct mu_pipe_usage;

struct mu_request {
	const struct mu_caller *caller; /* NULL: none */
	size_t limit;
	enum mu_log_policy log_policy;
	bool contents; /* of blocks are wanted, and logged */
	bool at_end;   /* the command that traces us looks if we cannot */
	bool array;    /* of entries: info->leaks */
	struct mu_entries *entries;         /* all of them, packed: memory of
					       mu_library.results; NULL: not */
	struct mu_references *references;   /* asked for; NULL: leaks are */
	struct mu_unreachable *unreachable; /* these, too; NULL: not */
	struct mu_pipe_usage *usage;        /* of the heap, too; NULL: not */
	size_t *cure; /* where the remedy begins in info->reason, 0: none;
			 NULL: not asked for */
};

struct mu_left_out;

/* Which look of a pass: with the option confirm there are two. */
enum mu_turn { MU_TURN_ONLY, MU_TURN_FIRST, MU_TURN_SECOND };

struct mu_pass {
	const struct mu_request *request;
	pid_t pid, tid;         /* of the process; of the thread that asked */
	uintptr_t frames_begin; /* of our frames on that thread's stack */
	struct mu_range own_stack; /* the one that this lies on, if not that */
	uint64_t begin_ns, deadline_ns;
	uint64_t stop_ns; /* when the threads must have stopped */
	bool filtered;    /* the asking thread has a seccomp filter, or may */
	bool traced;      /* the asking thread is, or may be */
	bool alone;       /* no other task, thread or process, has this memory,
			     and none had when the image was taken */
	struct mu_log log;
	struct mu_why why;
	struct mu_arena arena; /* all of the pass's memory but the stack */

	/* freeze */
	struct mu_snapshot self; /* what finding the allocators needs */
	struct mu_memory_self self_memory;
	struct mu_heaps heaps;

	/* collector */
	char *stack; /* guard page first */
	size_t stack_size;
	pid_t collector;
	int collector_phase; /* its tid at first; lib/helpers/collector.c */
	int gate;            /* what the collector waits for */
	enum mu_status collected;
	struct mu_snapshot snap;
	uint64_t pause_ns;   /* the longest stop */
	bool transient;      /* the partial answer may be complete next time */
	bool expired;        /* a thread did not stop, but time is left */
	bool blocked;        /* a thread blocks every signal, for a moment? */
	bool abandoned;      /* a thread in the handler still uses the arena */
	int stop;            /* enum MemunreachableStop */
	unsigned tries;      /* how often the threads were to be stopped */
	unsigned late_tries; /* stops that were over before shared memory
			       was read */

	/* memory that a fork leaves out (lib/state/left_out.h) */
	struct mu_left_out *left_out; /* NULL: no page could be had */
	bool hold;                    /* the collector waits for the sweeper */
	bool shared;                  /* the same, to copy shared memory
					 (heapwalk/memory/shared.h) */
	size_t changing; /* bytes of that which could not be copied */

	/*
	 * Alternate signal stacks. The frames of a stop by signal tell them;
	 * by ptrace the threads are made to call sigaltstack().
	 */
	uintptr_t own_stack_begin; /* of the asking thread; 0 = it has none */
	size_t unasked;            /* threads whose stack is not known */
	unsigned stack_tries;      /* stops to learn of the others' */
	bool ask_stacks;           /* in the next stop */
	bool prefer_signal;        /* for threads that could not be asked */
	uint64_t mapped_pages;     /* at the stop; 0: snap has the mappings */
	int memory, pagemap;       /* in the collector's table; -1 = none */

	/* what counts as a reference, and what was lost in the first look */
	struct mu_reach reach;
	struct mu_range *candidates; /* blocks, by address */
	size_t num_candidates;
	enum mu_turn turn;

	/* the answer */
	struct mu_entries entries; /* packed; memory of mu_library.results */
	size_t num_more;           /* frames behind the first 16 of each */

	/* sweeper */
	struct mu_room room; /* of the present try */
	bool in_place;       /* its memory is the program's: no image */
	pid_t sweeper;       /* child of the original, 0 = none */
	int sweeper_status;  /* wait4()'s, of the last one; -1 = not known */
	int pipe_read, pipe_write;
};

/*
 * Run a pass and fill INFO (zeroed by the caller but for version). info->leaks,
 * if request->array asks for it, is the caller's to free. True if the heap was
 * judged.
 *
 * Runs in: original. Uses no malloc, no errno.
 */
bool mu_pass_run(
    const struct mu_request *request, struct UnreachableMemoryInfo *info);

/* The threads must have stopped in SPAN ns, or when the pass ends. */
static inline void
mu_pass_stop_within(struct mu_pass *pass, uint64_t span)
{
	pass->stop_ns = mu_sys_now_ns() + span;
	if (pass->stop_ns > pass->deadline_ns)
		pass->stop_ns = pass->deadline_ns;
}

/*
 * Take the caller's context. Must be inline: in a separate frame, registers in
 * which the program keeps pointers would be saved below SP.
 */
static inline __attribute__((always_inline)) void
mu_caller_capture(struct mu_caller *caller)
{
	mu_arch_callee_saved(caller->saved);
	caller->sp = mu_arch_sp();
	caller->tp = mu_arch_tp();
}

#endif
