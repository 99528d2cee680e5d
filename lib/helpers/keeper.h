/*
 * Stop another process from outside, and take its memory.
 *
 * Two processes do that for the command, each with separate memory, so that the
 * death of one of the three (by SIGKILL, by the OOM killer) leaves the others:
 * - the keeper is the tracer. It stops the threads, reads registers, makes a
 *   thread copy the process, continues the threads, and ends the copy when the
 *   command closes its end of the line or has died;
 * - the watchdog waits for the keeper's end. If that comes too early, it has
 *   the copy reaped (lib/helpers/watchdog.c).
 * It and the command kill a keeper that was stopped by a signal, which the
 * target's owner may send.
 *
 * A thread that was in a call of ours restores its registers by itself
 * (ptrace/remote/remote_return.h). Both processes run in new sessions, block
 * all signals, and have the lowest oom_score_adj that they may have; the
 * command has the highest while they live. The keeper's results are in memory
 * that all three share (struct mu_keeper_work); descriptors are passed over the
 * line (lib/helpers/keeper_socket.h).
 */
#ifndef LIB_HELPERS_KEEPER_H
#define LIB_HELPERS_KEEPER_H

#include "heapwalk/memory/remote_memory.h"
#include "lib/helpers/shared_pages.h"
#include "mu/arena.h"
#include "mu/status.h"
#include "ptrace/live/program_id.h"
#include "ptrace/live/threads.h"
#include "ptrace/remote/process_copy.h"

enum mu_keeper_method {
	MU_KEEPER_AUTO, /* a copy; where that is impossible, by reading */
	MU_KEEPER_FORK,
	MU_KEEPER_READ,
};

struct mu_workers;

/*
 * The keeper's results; they belong to the caller after mu_keeper_take() has
 * returned.
 */
struct mu_keeper_result {
	enum mu_status status;
	struct mu_why why;
	enum mu_keeper_method method_used; /* MU_KEEPER_FORK or _READ */
	struct mu_why not_forked; /* why it was read instead of copied */
	struct mu_why no_room;    /* there was no memory for a copy; or empty */
	uint64_t pause_ns;        /* duration of the stop */
	uint64_t copy_ns;         /* to make the copy took, or to fail */
	bool locked;              /* a lock was held, so nothing was taken */
	bool stopped_long;        /* the pause was used up; for that reason */
	bool copied_long;         /* because the copy came too late */
	bool tight;               /* there is little memory for the copy */
	bool apart;     /* not for who reads it (struct mu_copy_budget) */
	size_t private; /* private memory of the process, bytes */
	struct mu_shared_pages shared; /* of the target; for a copy only */
	size_t unasked;                /* threads that could not be asked */
	size_t asleep;                 /* threads that could not be stopped */
	struct mu_program_id program;  /* that the process ran in the stop */
	pid_t late; /* the thread that did not stop in time; 0: none */
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
	enum mu_keeper_method method;
	uint64_t deadline_ns;  /* CLOCK_MONOTONIC */
	uint64_t max_pause_ns; /* how long the threads may be stopped */
	size_t limit; /* bytes of the target that may be read, if all of it must
			 be in memory */
	struct mu_cgroups_known *cgroups; /* that the caller found */
	size_t window; /* else, at a time; 0: what suffices */
	size_t page_size;
	const uintptr_t *locks; /* ints of the target: nothing is taken */
	size_t num_locks;       /* unless all of them are 0 */
	bool ask_stacks;        /* read the threads' alternate stacks */
	bool ask_wiped;     /* read memory that fork clears, during the stop */
	uint64_t copied_ns; /* time of a copy that came too late; 0: none */
	unsigned late_copies;
	struct mu_late_threads late; /* result.late of earlier tries */
	size_t expected; /* estimate of the bytes to be read besides a copy;
			    SIZE_MAX: more than fits into a stop */
	size_t kept;     /* of these at the last look; 0: not known */
	bool keep_all;   /* references may be unaligned words, or tagged ones */
	struct mu_workers *workers; /* who shares the reading; may be NULL */

	/*
	 * The result, valid until mu_keeper_end(). SNAP does not have what only
	 * the caller knows (reach, workers, the release of libc).
	 */
	struct mu_keeper_result result;
	struct mu_snapshot snap;
	struct mu_remote_memory remote;

	/*
	 * Not MU_OK if the data is incomplete, because the copy or the process
	 * itself ended, or executed another program, before all of it was read.
	 * Known after mu_keeper_release_copy().
	 */
	enum mu_status lost;

	/* Used by the command only, not by the keeper. */
	struct mu_keeper_work *work;
	struct mu_arena arena; /* tables of the remote memory */
	int memory, pagemap;   /* of the target */
	int copy_memory, copy_pagemap;
	pid_t pid, watchdog; /* 0 = none */
	int socket;          /* socket to the keeper; -1: none, or released */
	int ended;           /* read end of a pipe that both hold */
	int oom_score;       /* the command's own, to be restored */
	char *stack;
};

/* Memory that command, keeper and watchdog share, at one address. */
struct mu_keeper_work {
	size_t size; /* bytes of this mapping, with the arena */
	struct mu_keeper asked;
	struct mu_keeper_result result;
	struct mu_keeper_loss loss;
	struct mu_snapshot snap; /* arrays in ARENA; no memory */
	struct mu_arena arena;
	struct mu_process_copy copy;
	bool done;         /* nothing is left to be cleaned up */
	uint64_t stop_ns;  /* when the threads must continue */
	uint64_t read_ns;  /* set by the command: estimated time to read */
	int socket, ended; /* descriptor of the keeper; of both */
	int life, alive;   /* the watchdog reads, the keeper holds it */
	pid_t keeper;      /* set as soon as it is known, for the watchdog */
};

/*
 * Stop keeper->target, take its memory and release it. Returns when it runs
 * again, or with the reason for a failure. Call mu_keeper_end() in any case.
 * KEEPER, zeroed except for what the caller sets, must stay where it is.
 */
enum mu_status mu_keeper_take(struct mu_keeper *keeper);

/*
 * True while there is a copy, and the keeper need not watch that all of the
 * time.
 */
bool mu_keeper_may_ask(const struct mu_keeper *keeper);

/*
 * If that is so: find out which shared pages have got data since the copy was
 * made. They are in keeper->result.shared from FIRST_NEW on, by address.
 * Returns false if that is not known for all.
 */
bool mu_keeper_ask(struct mu_keeper *keeper);

/*
 * Release the copy: parts that were not read are zeros from now on.
 * Optional; mu_keeper_end() does it otherwise.
 */
void mu_keeper_release_copy(struct mu_keeper *keeper);

/*
 * Wait until keeper and watchdog have ended, and release everything. If the
 * copy cannot be reaped soon, they continue with that by themselves.
 */
void mu_keeper_end(struct mu_keeper *keeper);

/*
 * The keeper's main function; ARG is a struct mu_keeper_work. Runs in: keeper.
 */
void mu_keeper_body(void *arg);

#endif
