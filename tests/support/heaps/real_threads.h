/*
 * Real threads for a snapshot made by hand, and the search for their stacks.
 */
#ifndef TESTS_SUPPORT_HEAPS_REAL_THREADS_H
#define TESTS_SUPPORT_HEAPS_REAL_THREADS_H

#include <pthread.h>

#include "heapwalk/subject/stacks.h"
#include "mu/arch/cpu.h"
#include "tests/support/heaps/image.h"

#define STACK_SIZE ((size_t)256 << 10)

/* A thread that says where it is and waits. */
struct player {
	pthread_t thread;
	pthread_barrier_t ready, done;
	pid_t tid;
	uintptr_t sp, tp;
};

extern struct mu_snapshot walked_snap;
extern struct mu_stacks walked_stacks;
extern struct mu_ranges walked_skip;
extern struct mu_thread walked_threads[4];

void walked_setup(void);
void add_thread(pid_t tid, uintptr_t sp, uintptr_t tp);
void walked_find(void);
bool dead(uintptr_t address);
bool live(uintptr_t address);
void start(struct player *player, void *stack);
struct mu_range stack_of(const struct player *player);
void let_go(struct player *player);
void join(struct player *player);

#endif
