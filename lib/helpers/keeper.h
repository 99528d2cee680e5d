/*
 * Stopping another process from outside, and taking its memory.
 *
 * Two processes do that for the command, each with separate memory, so that the
 * death of one of the three (by SIGKILL, by the OOM killer) leaves the others:
 * - the keeper is the tracer. It stops the threads, reads registers, makes a
 *   thread copy the process, continues the threads, and ends the copy when the
 *   command closes its end of the line or has died;
 * - the guardian waits for the keeper's end. If that comes too early, it has
 *   the copy reaped (lib/helpers/guardian.c). It and the command kill a keeper
 * that a signal has stopped: the target's owner may do that.
 *
 * A thread that was in a call of ours restores its registers by itself
 * (ptrace/live/remote_return.h). Both processes run in new sessions, block all
 * signals, and have the lowest oom_score_adj that they may have; the command
 * has the highest while they live. The keeper's results are in memory that all
 * three share (struct mu_keeper_work); descriptors are passed over the line
 * (lib/helpers/keeper_line.h).
 */
#ifndef LIB_HELPERS_KEEPER_H
#define LIB_HELPERS_KEEPER_H

#include "heapwalk/memory/remote_memory.h"
#include "lib/helpers/shared_pages.h"
#include "mu/arena.h"
#include "mu/status.h"
#include "ptrace/live/process_copy.h"
#include "ptrace/live/program_id.h"

enum mu_keeper_way {
	MU_KEEPER_AUTO, /* a copy; where that is impossible, by reading */
	MU_KEEPER_FORK,
	MU_KEEPER_READ,
};

struct mu_workers;

/* The keeper's results; the caller's after mu_keeper_take() has returned. */
struct mu_keeper_result {
	enum mu_status status;
	struct mu_why why;
	enum mu_keeper_way taken; /* MU_KEEPER_FORK or _READ */
	struct mu_why not_forked; /* why not, if it was read instead */
	struct mu_why no_room;    /* a copy had too little; or no words */
	uint64_t pause_ns;        /* threads stood still */
	uint64_t copy_ns;         /* to make the copy took, or to fail */
	bool locked;              /* for that reason nothing was taken */
	bool stopped_long;        /* the pause was used up; for that reason */
	bool copied_long;         /* by the making of the copy */
	bool tight;               /* there is little room for the copy, and */
	bool apart;               /* not for who reads it (struct mu_room) */
	size_t private;           /* bytes of the process (struct mu_room) */
	struct mu_shared_pages shared; /* of the target; for a copy only */
	size_t unasked;                /* threads that could not be asked */
	struct mu_program_id program;  /* that the process ran in the stop */
};

/* Written by the keeper before the copy's memory is released. */
struct mu_keeper_loss {
	bool lost;
	enum mu_status status;
	struct mu_why why;
};

struct mu_keeper {
	/* Set by the caller. */
	pid_t target;
	enum mu_keeper_way way;
	uint64_t deadline_ns;  /* CLOCK_MONOTONIC */
	uint64_t max_pause_ns; /* how long the threads may stand still */
	size_t limit;          /* bytes of the target that may be read, where
				  all of it must be in memory */
	size_t window;         /* else, at a time; 0: what suffices */
	size_t page_size;
	const uintptr_t *locks; /* ints of the target: nothing is taken */
	size_t num_locks;       /* unless all of them are 0 */
	bool ask_stacks;    /* threads are asked for their alternate stacks */
	bool ask_wiped;     /* what a fork empties is read during the stop */
	uint64_t copied_ns; /* what a late copy took; 0: none was late */
	size_t expected;    /* bytes that will be read beside a copy, about;
			       SIZE_MAX: more than a stop has time for */
	struct mu_workers *workers; /* who shares the reading; may be NULL */

	/*
	 * The answer, valid until mu_keeper_end(). SNAP is without what only
	 * the caller knows (reach, workers, the release of libc).
	 */
	struct mu_keeper_result result;
	struct mu_snapshot snap;
	struct mu_remote_memory remote;

	/*
	 * Not MU_OK if the data is incomplete, because the copy or the process
	 * itself ended, or executed another program, before all of it was read.
	 * Known after mu_keeper_let_go().
	 */
	enum mu_status lost;

	/* Used by the command only, not by the keeper. */
	struct mu_keeper_work *work;
	struct mu_arena arena; /* tables of the remote memory */
	int memory, pagemap;   /* of the target */
	int copy_memory, copy_pagemap;
	pid_t pid, guardian; /* 0 = none */
	int line;            /* to the keeper; -1 = none, or let go */
	int ended;           /* read end of a pipe that both hold */
	int oom_score;       /* the command's own, to be put back */
	char *stack;
};

/* Shared by command, keeper and guardian, at one address. */
struct mu_keeper_work {
	size_t size; /* bytes of this mapping, the arena behind included */
	struct mu_keeper asked;
	struct mu_keeper_result result;
	struct mu_keeper_loss loss;
	struct mu_snapshot snap; /* arrays in ARENA; no memory */
	struct mu_arena arena;
	struct mu_process_copy copy;
	bool done;        /* the keeper has left nothing to do */
	uint64_t stop_ns; /* when the threads must go on */
	uint64_t read_ns; /* set by the command: what reading would take */
	int line, ended;  /* descriptors of the keeper, and of both */
	int life, alive;  /* the guardian reads, the keeper holds */
	pid_t keeper;     /* as soon as it is known; for the guardian */
};

/*
 * Stop keeper->target, take it and let it go; returns when it runs again, or
 * with what prevented that. mu_keeper_end() in any case. KEEPER, zeroed but for
 * what the caller sets, must stay where it is.
 */
enum mu_status mu_keeper_take(struct mu_keeper *keeper);

/*
 * Release the copy: parts that were not read are zeros from now on.
 * Optional; mu_keeper_end() does it otherwise.
 */
void mu_keeper_let_go(struct mu_keeper *keeper);

/*
 * Wait until keeper and guardian have ended, and release everything. If the
 * copy cannot be reaped soon, they continue with that by themselves.
 */
void mu_keeper_end(struct mu_keeper *keeper);

/* What the keeper runs; ARG is a struct mu_keeper_work. Runs in: keeper. */
void mu_keeper_body(void *arg);

#endif
