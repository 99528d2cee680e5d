/*
 * Shared by the parts of the keeper: see keeper.h.
 *
 * Runs in: the keeper. It is a copy of a process with threads, in which libc
 * locks may be held for ever: raw system calls only.
 */
#ifndef LIB_HELPERS_KEEPER_SELF_H
#define LIB_HELPERS_KEEPER_SELF_H

#include "lib/helpers/copy_pause.h"
#include "lib/helpers/keeper_drop.h"
#include "lib/helpers/keeper_socket.h"
#include "lib/helpers/worker_threads.h"
#include "lib/state/copy_budget.h"
#include "ptrace/live/asleep.h"
#include "ptrace/live/lender.h"
#include "ptrace/live/snapshot.h"
#include "ptrace/live/threads.h"

struct mu_keeper_self {
	struct mu_keeper_work *work;
	const struct mu_keeper *asked;
	struct mu_keeper_result *result;
	int memory, pagemap;           /* of the target */
	int copy_memory, copy_pagemap; /* -1: there is no copy */
	struct mu_copy_budget budget;  /* for a copy */
	enum mu_status has_room;
	enum mu_keeper_method method;
	uint64_t bytes;   /* that would have to be read */
	uint64_t read_ns; /* estimated time for that */
	struct mu_forked forked;
	uint64_t fork_ns; /* estimated time for a copy */
	bool parted;      /* the copy has no files of the process any more */
	struct mu_lender lender;
	struct mu_asleep asleep;          /* threads that no stop reaches */
	struct mu_worker_threads threads; /* they share reading in the stop */
};

/*
 * Open the memory of the target and find out which program it runs. Closes what
 * was open.
 */
enum mu_status mu_keeper_open_target(struct mu_keeper_self *self);

/* List memory that a copy shares with the target, or does not have. */
void mu_keeper_list_shared(struct mu_keeper_self *self);

/*
 * Stop the threads, take what the method needs, and release them within the
 * time limit of a stop.
 */
enum mu_status mu_keeper_stop_and_take(struct mu_keeper_self *self,
    struct mu_threads *threads, const struct mu_kernel_files *files);

/* Read the mappings of process PID into the snapshot. */
enum mu_status mu_keeper_read_mappings(
    struct mu_keeper_self *self, pid_t pid, uint64_t until_ns);

/* Send MESSAGE to the command. Returns false if it is gone. */
bool mu_keeper_send(
    struct mu_keeper_self *self, enum mu_keeper_message message);

#endif
