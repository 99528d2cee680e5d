/*
 * Real threads for a snapshot made by hand, and the search for their stacks.
 */
#ifndef TESTS_SUPPORT_REAL_THREADS_H
#define TESTS_SUPPORT_REAL_THREADS_H

#include <pthread.h>

#include "heapwalk/subject/stacks.h"
#include "mu/arch/cpu.h"
#include "tests/support/image.h"

#define STACK_SIZE ((size_t)256 << 10)

/* A thread that says where it is and waits. */
struct player {
	pthread_t thread;
	pthread_barrier_t ready, done;
	pid_t tid;
	uintptr_t sp, tp;
};

static struct mu_snapshot snap;
static struct mu_stacks stacks;
static struct mu_ranges skip;
static struct mu_thread threads[4];

static __attribute__((unused)) void
setup(void)
{
	image_setup();
	mu_ranges_open(&skip, &image.arena);
	memset(&snap, 0, sizeof(snap));
	snap.pid = getpid();
	snap.threads = threads;
}

static __attribute__((unused)) void
add_thread(pid_t tid, uintptr_t sp, uintptr_t tp)
{
	threads[snap.num_threads++] =
	    (struct mu_thread) { .tid = tid, .sp = sp, .tp = tp };
}

static __attribute__((unused)) void
find(void)
{
	image_open(&snap);
	mu_memory_self_look(&snap.memory);
	ck_assert_int_eq(
	    mu_stacks_find(&stacks, &snap, &skip, &image.arena), MU_OK);
	ck_assert(mu_ranges_check(&stacks.dead));
	ck_assert(mu_ranges_check(&stacks.live));
}

static __attribute__((unused)) bool
dead(uintptr_t address)
{
	return mu_ranges_has(&stacks.dead, address);
}

static __attribute__((unused)) bool
live(uintptr_t address)
{
	return mu_ranges_has(&stacks.live, address);
}

static void *
play(void *arg)
{
	struct player *player = arg;

	player->tid = gettid();
	player->sp = mu_arch_sp();
	player->tp = mu_arch_tp();
	pthread_barrier_wait(&player->ready);
	pthread_barrier_wait(&player->done);
	return NULL;
}

static __attribute__((unused)) void
start(struct player *player, void *stack)
{
	pthread_attr_t attr;

	pthread_barrier_init(&player->ready, NULL, 2);
	pthread_barrier_init(&player->done, NULL, 2);
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK_SIZE);
	if (stack != NULL)
		pthread_attr_setstack(&attr, stack, STACK_SIZE);
	ck_assert_int_eq(
	    pthread_create(&player->thread, &attr, play, player), 0);
	pthread_attr_destroy(&attr);
	pthread_barrier_wait(&player->ready);
}

static __attribute__((unused)) struct mu_range
stack_of(const struct player *player)
{
	struct mu_range stack;
	pthread_attr_t attr;
	void *low;
	size_t size;

	ck_assert_int_eq(pthread_getattr_np(player->thread, &attr), 0);
	pthread_attr_getstack(&attr, &low, &size);
	pthread_attr_destroy(&attr);
	stack.begin = (uintptr_t)low;
	stack.end = stack.begin + size;
	return stack;
}

static __attribute__((unused)) void
let_go(struct player *player)
{
	pthread_barrier_wait(&player->done);
}

static __attribute__((unused)) void
join(struct player *player)
{
	let_go(player);
	ck_assert_int_eq(pthread_join(player->thread, NULL), 0);
}

#endif
