#include "tests/support/heaps/real_threads.h"

struct mu_snapshot walked_snap;
struct mu_stacks walked_stacks;
struct mu_ranges walked_skip;
struct mu_thread walked_threads[4];

void
walked_setup(void)
{
	image_setup();
	mu_ranges_open(&walked_skip, &image.arena);
	memset(&walked_snap, 0, sizeof(walked_snap));
	walked_snap.pid = getpid();
	walked_snap.threads = walked_threads;
}

void
add_thread(pid_t tid, uintptr_t sp, uintptr_t tp)
{
	walked_threads[walked_snap.num_threads++] =
	    (struct mu_thread) { .tid = tid, .sp = sp, .tp = tp };
}

void
walked_find(void)
{
	image_open(&walked_snap);
	mu_memory_self_look(&walked_snap.memory, &image.pages);
	ck_assert_int_eq(mu_stacks_find(&walked_stacks, &walked_snap,
			     &walked_skip, &image.arena),
	    MU_OK);
	ck_assert(ranges_in_order(&walked_stacks.dead));
	ck_assert(ranges_in_order(&walked_stacks.live));
}

bool
dead(uintptr_t address)
{
	return mu_ranges_has(&walked_stacks.dead, address);
}

bool
live(uintptr_t address)
{
	return mu_ranges_has(&walked_stacks.live, address);
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

void
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

struct mu_range
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

void
let_go(struct player *player)
{
	pthread_barrier_wait(&player->done);
}

void
join(struct player *player)
{
	let_go(player);
	ck_assert_int_eq(pthread_join(player->thread, NULL), 0);
}
