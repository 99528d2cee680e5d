/*
 * Who stops another process: see keeper.h.
 *
 * Runs in: the command.
 */
#include "lib/keeper.h"

#include <sched.h>

#include "mu/sys.h"

#define STACK_SIZE ((size_t)256 << 10)
#define ARENA_LIMIT ((size_t)1 << 30)

/* How long the command waits for the keeper's end. */
#define END_NS (2 * MU_NS_PER_SEC)
#define END_NAP_NS (200 * 1000ull)

/* While it is in PHASE. A thread under SIGSTOP's spell may take long. */
static int
await_phase(struct mu_keeper *keeper, int phase)
{
	int next;

	while (
	    (next = __atomic_load_n(&keeper->phase, __ATOMIC_ACQUIRE)) == phase)
		mu_sys_futex_wait(&keeper->phase, phase, 0,
		    mu_sys_now_ns() + MU_KEEPER_SLICE_NS);
	return next;
}

enum mu_status
mu_keeper_take(struct mu_keeper *keeper)
{
	long stack = mu_sys_map_stack(STACK_SIZE), pid;

	keeper->memory = keeper->pagemap = -1;
	keeper->copy_memory = keeper->copy_pagemap = -1;
	keeper->gate = MU_KEEPER_KEEP;
	keeper->caller = mu_sys_getpid();
	mu_arena_open(&keeper->arena, ARENA_LIMIT);
	if (mu_sys_failed(stack))
		return mu_why(&keeper->why, MU_ERR_NO_MEMORY, "no memory");
	keeper->stack = (char *)stack;
	keeper->status =
	    mu_why(&keeper->why, MU_ERR_HELPER_DIED, "the keeper died");
	pid = mu_arch_clone(CLONE_VM | CLONE_FILES | CLONE_UNTRACED |
		CLONE_PARENT_SETTID | CLONE_CHILD_CLEARTID,
	    keeper->stack + STACK_SIZE, &keeper->phase, mu_keeper_body, keeper);
	if (pid < 0)
		return mu_why(&keeper->why, mu_status_from_errno((int)-pid),
		    "cannot start the keeper (errno %ld)", -pid);
	keeper->pid = (pid_t)pid;
	/* Its tid at first (PARENT_SETTID), or what it says already. */
	await_phase(keeper, keeper->pid);
	return keeper->status;
}

void
mu_keeper_let_go(struct mu_keeper *keeper)
{
	if (keeper->pid == 0)
		return;
	if (keeper->status == MU_OK)
		mu_memory_mirror_detach(&keeper->snap.memory);
	__atomic_store_n(&keeper->gate, MU_KEEPER_LET_GO, __ATOMIC_RELEASE);
	mu_sys_futex_wake(&keeper->gate, 1, FUTEX_PRIVATE_FLAG);
}

/* Is it gone? If it cannot reap the copy yet it goes on without us. */
static bool
await_end(struct mu_keeper *keeper)
{
	uint64_t end_ns = mu_sys_now_ns() + END_NS;
	int phase = keeper->pid;

	while (phase != 0 && phase != MU_KEEPER_DROPPING)
		phase = await_phase(keeper, phase);
	while (mu_sys_wait(keeper->pid, NULL, MU_WALL | WNOHANG) == 0) {
		if (mu_sys_now_ns() >= end_ns)
			return false;
		mu_sys_sleep_ns(END_NAP_NS);
	}
	return true;
}

void
mu_keeper_end(struct mu_keeper *keeper)
{
	bool gone = true;

	if (keeper->pid != 0) {
		mu_keeper_let_go(keeper);
		gone = await_end(keeper);
	}
	keeper->pid = 0;
	mu_memory_mirror_close(&keeper->snap.memory);
	mu_sys_close(&keeper->memory);
	mu_sys_close(&keeper->pagemap);
	mu_arena_close(&keeper->arena);
	if (gone && keeper->stack != NULL)
		mu_sys_munmap(keeper->stack, STACK_SIZE);
	keeper->stack = NULL;
}
