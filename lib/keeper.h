/*
 * Who stops another process, and keeps what was taken of it.
 *
 * A process of its own that shares our memory and descriptors (CLONE_VM,
 * CLONE_FILES) and nothing else: when the command is killed in the middle, the
 * keeper still puts every register back, lets every thread go, and ends the
 * copy. It is in a session of its own and has all signals blocked.
 */
#ifndef LIB_KEEPER_H
#define LIB_KEEPER_H

#include "heapwalk/memory_mirror.h"
#include "mu/arena.h"
#include "mu/status.h"
#include "ptrace/process_copy.h"

enum mu_keeper_way {
	MU_KEEPER_AUTO, /* a copy; where that is impossible, by reading */
	MU_KEEPER_FORK,
	MU_KEEPER_READ,
};

/* How soon it sees that the command is gone, or it that the keeper is. */
#define MU_KEEPER_SLICE_NS (20 * 1000 * 1000ull)

/*
 * keeper->phase: its tid while it takes the target; then these; when it is gone
 * the kernel writes 0 (CLONE_CHILD_CLEARTID).
 */
#define MU_KEEPER_TAKEN (-2)
#define MU_KEEPER_DROPPING (-3) /* it knows all that it needs by itself */

/* keeper->gate */
enum { MU_KEEPER_KEEP, MU_KEEPER_LET_GO };

struct mu_keeper {
	/* Set by the caller. */
	pid_t target;
	enum mu_keeper_way way;
	uint64_t deadline_ns; /* CLOCK_MONOTONIC: for stopping and taking */
	size_t limit;         /* bytes of the target that may be read */
	size_t page_size;
	const uintptr_t *locks; /* ints of the target: nothing is taken */
	size_t num_locks;       /* unless all of them are 0 */

	/*
	 * The answer, valid until mu_keeper_end(). SNAP lacks what only the
	 * caller knows (reach, workers, the release of libc).
	 */
	struct mu_snapshot snap;
	struct mu_memory_mirror mirror;
	enum mu_keeper_way taken; /* MU_KEEPER_FORK or _READ */
	struct mu_why not_forked; /* why not, if it was read instead */
	uint64_t pause_ns;        /* threads stood still */
	bool lacking; /* the copy lacks memory that the target has */
	bool locked;  /* for that reason nothing was taken */
	enum mu_status status;
	struct mu_why why;

	/* The keeper's. */
	struct mu_arena arena;
	struct mu_process_copy copy;
	int memory, pagemap;           /* of the target */
	int copy_memory, copy_pagemap; /* -1: there is no copy */
	uint64_t mapped_pages;         /* of the target at the stop */
	pid_t caller, pid;             /* pid: 0 = none */
	int phase, gate;               /* futexes */
	char *stack;
};

/*
 * Stop keeper->target, take it and let it go; returns when it runs again, or
 * with what prevented that. mu_keeper_end() in any case. KEEPER, zeroed but for
 * what the caller sets, must stay where it is.
 */
enum mu_status mu_keeper_take(struct mu_keeper *keeper);

/*
 * The copy is not needed any more: what the mirror has not read is zeros from
 * now on. May be called early, and before mu_keeper_end() need not.
 */
void mu_keeper_let_go(struct mu_keeper *keeper);

/* Wait until the keeper is gone, and give everything back. */
void mu_keeper_end(struct mu_keeper *keeper);

/* What the keeper runs; ARG is a struct mu_keeper. Runs in: keeper. */
void mu_keeper_body(void *arg);

#endif
