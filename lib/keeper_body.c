/*
 * What the keeper does: see keeper.h.
 *
 * Runs in: the keeper. It shares the TLS, errno included, with the thread that
 * started it: raw system calls only.
 */
#include "lib/keeper.h"

#include <sys/prctl.h>

#include "mu/sys.h"
#include "mu/text.h"
#include "ptrace/mappings.h"
#include "ptrace/refusal.h"
#include "ptrace/snapshot_live.h"
#include "ptrace/threads.h"

/* For ending the copy: a try, and all of them. */
#define ONE_DROP_NS MU_NS_PER_SEC
#define DROP_NS (60 * MU_NS_PER_SEC)

static int
open_file(pid_t pid, const char *name)
{
	char path[64];

	mu_text_format(path, sizeof(path), "/proc/%d/%s", pid, name);
	return mu_sys_open(path, O_RDONLY | O_CLOEXEC, 0);
}

static enum mu_status
open_target(struct mu_keeper *keeper)
{
	int error;

	keeper->memory = open_file(keeper->target, "mem");
	keeper->pagemap = open_file(keeper->target, "pagemap");
	if (keeper->memory >= 0 && keeper->pagemap >= 0)
		return MU_OK;
	error = keeper->memory < 0 ? -keeper->memory : -keeper->pagemap;
	if (error == ENOENT)
		return mu_why(&keeper->why, MU_ERR_TARGET_GONE,
		    "there is no process %d", keeper->target);
	if (error == ESRCH)
		return mu_why(&keeper->why, MU_ERR_ARGUMENT,
		    "process %d has no memory: it has ended and was not waited"
		    " for, or is a thread of the kernel",
		    keeper->target);
	return mu_refusal(keeper->target, keeper->target, error, &keeper->why);
}

/* What the mirror reads from: the copy, or the target itself. */
static enum mu_status
open_mirror(struct mu_keeper *keeper)
{
	bool copied = keeper->taken == MU_KEEPER_FORK;
	struct mu_mirror_source source = {
		.memory = copied ? keeper->copy_memory : keeper->memory,
		.pagemap = copied ? keeper->copy_pagemap : keeper->pagemap,
		.shared_pagemap = keeper->pagemap,
		.page_size = keeper->page_size,
	};

	return mu_memory_mirror_open(&keeper->snap.memory, &keeper->mirror,
	    &source, keeper->snap.mappings, keeper->snap.num_mappings,
	    keeper->limit, &keeper->arena, &keeper->why);
}

static enum mu_status
read_mappings(struct mu_keeper *keeper, pid_t pid)
{
	return mu_mappings_read(pid, &keeper->snap.mappings,
	    &keeper->snap.num_mappings, &keeper->arena, &keeper->why);
}

/* While the target stands still: all that is needed of it. */
static enum mu_status
read_target(struct mu_keeper *keeper, const struct mu_threads *threads)
{
	enum mu_status status;

	keeper->taken = MU_KEEPER_READ;
	status = read_mappings(keeper, threads->tracees[0].tid);
	if (status == MU_OK)
		status = open_mirror(keeper);
	if (status == MU_OK)
		mu_memory_mirror_fill(&keeper->snap.memory);
	return status;
}

static enum mu_status
take_stopped(struct mu_keeper *keeper, struct mu_threads *threads,
    const struct mu_kernel_files *files)
{
	enum mu_status status;

	status = mu_snapshot_live(
	    &keeper->snap, threads, files, &keeper->arena, &keeper->why);
	keeper->snap.unfrozen = true;
	if (status != MU_OK || keeper->way == MU_KEEPER_READ)
		return status != MU_OK ? status : read_target(keeper, threads);
	keeper->mapped_pages = mu_mappings_pages(keeper->snap.threads[0].tid);
	status = mu_process_copy_make(
	    &keeper->copy, threads, keeper->deadline_ns, &keeper->not_forked);
	if (status == MU_OK) {
		keeper->taken = MU_KEEPER_FORK;
		return MU_OK;
	}
	if (keeper->way == MU_KEEPER_FORK || status == MU_ERR_TARGET_GONE ||
	    status == MU_ERR_TIMEOUT) {
		keeper->why = keeper->not_forked;
		return status;
	}
	return read_target(keeper, threads);
}

/* The copy stands still for good: all of this can be done now. */
static enum mu_status
open_copy(struct mu_keeper *keeper)
{
	pid_t pid = keeper->copy.pid;
	enum mu_status status;

	keeper->copy_memory = open_file(pid, "mem");
	keeper->copy_pagemap = open_file(pid, "pagemap");
	if (keeper->copy_memory < 0 || keeper->copy_pagemap < 0)
		return mu_why(&keeper->why, MU_ERR_NO_PERMISSION,
		    "the copy's memory may not be read (errno %d)",
		    keeper->copy_memory < 0 ? -keeper->copy_memory
					    : -keeper->copy_pagemap);
	status = read_mappings(keeper, pid);
	keeper->lacking = mu_mappings_pages(pid) != keeper->mapped_pages;
	return status == MU_OK ? open_mirror(keeper) : status;
}

/* The futex is not private: the kernel wakes it as a shared one. */
static void
enter_phase(struct mu_keeper *keeper, int phase)
{
	__atomic_store_n(&keeper->phase, phase, __ATOMIC_RELEASE);
	mu_sys_futex_wake(&keeper->phase, 1, 0);
}

/*
 * Where a thread has a lock there is nothing to be learnt at this moment: a
 * look at the locks costs the target far less than a copy.
 */
static enum mu_status
look_at_locks(struct mu_keeper *keeper)
{
	size_t i;
	int lock;

	for (i = 0; i < keeper->num_locks && !keeper->locked; i++)
		keeper->locked =
		    mu_sys_pread(keeper->memory, &lock, sizeof(lock),
			keeper->locks[i]) == sizeof(lock) &&
		    lock != 0;
	return keeper->locked ? mu_why(&keeper->why, MU_ERR_HEAP_INCONSISTENT,
				    "a thread stood inside malloc, each time")
			      : MU_OK;
}

static enum mu_status
take(struct mu_keeper *keeper)
{
	struct mu_kernel_files files;
	struct mu_threads threads;
	enum mu_status status;

	status = open_target(keeper);
	if (status != MU_OK)
		return status;
	mu_kernel_files_open(&files, keeper->target);
	status = mu_threads_prepare(
	    &threads, keeper->target, 0, &keeper->arena, &keeper->why);
	if (status == MU_OK) {
		status = mu_threads_stop_listed(
		    &threads, keeper->deadline_ns, &keeper->why);
		if (status == MU_OK)
			status = look_at_locks(keeper);
		if (status == MU_OK)
			status = take_stopped(keeper, &threads, &files);
		mu_threads_release(&threads);
		keeper->pause_ns = mu_sys_now_ns() - threads.begin_ns;
	}
	mu_kernel_files_close(&files);
	if (status == MU_OK && keeper->taken == MU_KEEPER_FORK)
		status = open_copy(keeper);
	return status;
}

/*
 * Nobody may wait for this, and KEEPER may be gone then: all that it takes is
 * here. Another tracer of the target keeps us from its threads as long as it
 * has them.
 */
static void
drop(struct mu_keeper *keeper)
{
	uint64_t end_ns = mu_sys_now_ns() + DROP_NS;
	struct mu_process_copy copy = keeper->copy, left;
	pid_t target = keeper->target;
	enum mu_status status;

	mu_sys_close(&keeper->copy_memory);
	mu_sys_close(&keeper->copy_pagemap);
	/* Where the kernel would write that we are gone. */
	mu_sys1(SYS_set_tid_address, 0);
	enter_phase(keeper, MU_KEEPER_DROPPING);
	do {
		left = copy;
		status = mu_process_copy_drop(
		    &left, target, mu_sys_now_ns() + ONE_DROP_NS, NULL);
		if (status != MU_OK)
			mu_sys_sleep_ns(MU_KEEPER_SLICE_NS);
	} while (status != MU_OK && mu_sys_now_ns() < end_ns);
}

/* Until the copy is needed no more, or the command is gone. */
static void
await_gate(struct mu_keeper *keeper)
{
	while (__atomic_load_n(&keeper->gate, __ATOMIC_ACQUIRE) ==
		MU_KEEPER_KEEP &&
	    mu_sys0(SYS_getppid) == keeper->caller)
		mu_sys_futex_wait(&keeper->gate, MU_KEEPER_KEEP,
		    FUTEX_PRIVATE_FLAG, mu_sys_now_ns() + MU_KEEPER_SLICE_NS);
}

void
mu_keeper_body(void *arg)
{
	struct mu_keeper *keeper = arg;
	mu_sigmask mask;

	mu_sys_block_signals(&mask);
	mu_sys0(SYS_setsid);
	mu_sys2(SYS_prctl, PR_SET_NAME, (long)"mu-keeper");
	if (mu_sys0(SYS_getppid) == keeper->caller) {
		keeper->status = take(keeper);
		enter_phase(keeper, MU_KEEPER_TAKEN);
		if (keeper->status == MU_OK && keeper->taken == MU_KEEPER_FORK)
			await_gate(keeper);
	}
	drop(keeper);
	mu_sys_exit(0);
}
