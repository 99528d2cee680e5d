/*
 * Which bytes of the stacks of live threads are dead.
 */
#include <pthread.h>

#include "heapwalk/heaps/glibc/pthread.h"
#include "heapwalk/subject/stacks.h"
#include "mu/arch/cpu.h"
#include "tests/support/heaps/image.h"
#include "tests/support/suite.h"

#define STACK_SIZE ((size_t)256 << 10)

/* A thread that says where it is and waits. */
struct player {
	pthread_t thread;
	pthread_barrier_t ready, done;
	pid_t tid;
	uintptr_t sp, tp;
};

static struct mu_snapshot walked_snap;
static struct mu_stacks walked_stacks;
static struct mu_ranges walked_skip;
static struct mu_thread walked_threads[4];

static void
walked_setup(void)
{
	image_setup();
	mu_ranges_open(&walked_skip, &image.arena);
	memset(&walked_snap, 0, sizeof(walked_snap));
	walked_snap.pid = getpid();
	walked_snap.threads = walked_threads;
}

static void
add_thread(pid_t tid, uintptr_t sp, uintptr_t tp)
{
	walked_threads[walked_snap.num_threads++] =
	    (struct mu_thread) { .tid = tid, .sp = sp, .tp = tp };
}

static void
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

static bool
dead(uintptr_t address)
{
	return mu_ranges_has(&walked_stacks.dead, address);
}

static bool
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

static void
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

static struct mu_range
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

static void
let_go(struct player *player)
{
	pthread_barrier_wait(&player->done);
}

static void
join(struct player *player)
{
	let_go(player);
	ck_assert_int_eq(pthread_join(player->thread, NULL), 0);
}

TEST(below_sp_of_a_thread)
{
	struct player player;
	struct mu_range stack;

	start(&player, NULL);
	stack = stack_of(&player);
	add_thread(player.tid, player.sp, player.tp);
	walked_find();
	ck_assert(dead(stack.begin));
	ck_assert(dead(player.sp - MU_RED_ZONE - 1));
	ck_assert(!dead(player.sp - MU_RED_ZONE)); /* the red zone is live */
	ck_assert(!dead(player.sp));
	ck_assert(!dead(player.tp));
	ck_assert(!dead(stack.end - 1));
	ck_assert(!dead(stack.end));
	ck_assert(live(player.sp - MU_RED_ZONE));
	ck_assert(live(player.tp));
	ck_assert(!live(player.sp - MU_RED_ZONE - 1));
	join(&player);
}

TEST(below_sp_of_the_main_thread)
{
	volatile char here[16] = { 0 };
	uintptr_t sp = mu_arch_sp();

	add_thread(getpid(), sp, mu_arch_tp());
	walked_find();
	ck_assert(dead(sp - MU_RED_ZONE - 1));
	ck_assert(!dead(sp - MU_RED_ZONE));
	ck_assert(!dead((uintptr_t)here));
	ck_assert(!dead((uintptr_t)environ));
	ck_assert(live((uintptr_t)here));
}

/* On an alternate stack the frames of the normal one still count. */
TEST(alternate_stack)
{
	static char alternate[16384];
	struct player player;
	struct mu_range stack;

	start(&player, NULL);
	stack = stack_of(&player);
	add_thread(player.tid, (uintptr_t)alternate + 8000, player.tp);
	add_thread(getpid(), (uintptr_t)alternate + 4000, mu_arch_tp());
	walked_find();
	ck_assert(!dead(stack.begin));
	ck_assert(!dead(player.sp - 5000));
	ck_assert(!dead(mu_arch_sp() - 5000));
	ck_assert(!dead((uintptr_t)alternate));
	ck_assert(!dead((uintptr_t)alternate + 3000));
	ck_assert(live(player.sp - 5000));
	join(&player);
}

/* If the thread runs on it, the frames do not tell how much of it is in use. */
TEST(alternate_stack_and_a_guest)
{
	static char alternate[16384];
	struct player player;

	start(&player, NULL);
	add_thread(player.tid, (uintptr_t)alternate + 8000, player.tp);
	add_thread(player.tid + 1, player.sp, 0);
	walked_find();
	ck_assert(!dead(player.sp - 5000));
	join(&player);
}

TEST(unknown_stack_pointer)
{
	struct player player;

	start(&player, NULL);
	add_thread(player.tid, 0, player.tp);
	walked_find();
	ck_assert(!dead(player.sp - 5000));
	join(&player);
}

/* A thread that runs as a coroutine on the stack of another. */
TEST(two_on_one_stack)
{
	struct player player;
	struct mu_range stack;
	uintptr_t lower;

	start(&player, NULL);
	stack = stack_of(&player);
	lower = player.sp - 20000;
	add_thread(player.tid, player.sp, player.tp);
	add_thread(player.tid + 1, lower, 0);
	walked_find();
	ck_assert(dead(stack.begin));
	ck_assert(dead(lower - MU_RED_ZONE - 1));
	ck_assert(!dead(lower - MU_RED_ZONE));
	ck_assert(!dead(player.sp - MU_RED_ZONE - 1));
	join(&player);
}

#ifdef MU_PTHREAD_SELF
/* A damaged struct pthread does not hide the stack of another thread. */
TEST(block_too_large)
{
	struct player one, two, *low, *high;
	uintptr_t block[2], *field;
	size_t excess;

	start(&one, NULL);
	start(&two, NULL);
	low = one.tp < two.tp ? &one : &two;
	high = low == &one ? &two : &one;
	field = (uintptr_t *)(high->tp + MU_PTHREAD_STACKBLOCK);
	memcpy(block, field, sizeof(block));
	excess = block[0] - stack_of(low).begin;
	field[0] -= excess;
	field[1] += excess;
	add_thread(high->tid, high->sp, high->tp);
	add_thread(low->tid, 0, low->tp);
	walked_find();
	memcpy(field, block, sizeof(block));
	ck_assert(!dead(low->tp));
	ck_assert(!dead(low->sp));
	ck_assert(!dead(high->sp));
	join(&one);
	join(&two);
}

#endif

TEST(no_memory)
{
	struct player player;
	enum mu_status status;
	size_t n;

	start(&player, NULL);
	add_thread(player.tid, player.sp, player.tp);
	walked_find();
	for (n = 1;; n++) {
		image.arena.fail_at = n;
		status = mu_stacks_find(
		    &walked_stacks, &walked_snap, &walked_skip, &image.arena);
		if (status == MU_OK)
			break;
		ck_assert_int_eq(status, MU_ERR_NO_MEMORY);
	}
	ck_assert_uint_ge(n, 4);
	join(&player);
}

/*
 * Stacks of threads that have ended are dead below struct pthread, and only
 * these.
 */
#ifdef MU_PTHREAD_SELF
TEST(stack_of_an_ended_thread)
{
	struct player player;
	struct mu_range stack;

	start(&player, NULL);
	stack = stack_of(&player);
	join(&player);
	add_thread(getpid(), mu_arch_sp(), mu_arch_tp());
	walked_find();
	ck_assert_uint_ge(walked_stacks.num_ended, 1);
	ck_assert(dead(stack.begin));
	ck_assert(dead(player.sp));
	ck_assert(dead(player.tp - 1));
	/* The DTV hangs on it. */
	ck_assert(!dead(player.tp));
	ck_assert(!dead(player.tp + 8));
	ck_assert(dead(player.tp + MU_PTHREAD_RESULT));
	ck_assert(dead(player.tp + MU_PTHREAD_ARGUMENT));
	ck_assert(!dead(player.tp + MU_PTHREAD_STACKBLOCK));
	ck_assert(!dead(stack.end - 1));
}

/* It has ended and is not joined yet. */
TEST(stack_of_an_unjoined_thread)
{
	struct player player;

	start(&player, NULL);
	let_go(&player);
	while (tgkill(getpid(), player.tid, 0) == 0)
		usleep(1000);
	add_thread(getpid(), mu_arch_sp(), mu_arch_tp());
	walked_find();
	ck_assert_uint_ge(walked_stacks.num_ended, 1);
	ck_assert(dead(player.sp));
	ck_assert(!dead(player.tp));
	ck_assert(!dead(player.tp + MU_PTHREAD_RESULT));
	ck_assert(!dead(player.tp + MU_PTHREAD_RESULT + 8));
	ck_assert(dead(player.tp + MU_PTHREAD_ARGUMENT));
	pthread_join(player.thread, NULL);
}

TEST(many_ended_threads)
{
	struct player players[8];
	size_t i;

	for (i = 0; i < 8; i++)
		start(&players[i], NULL);
	for (i = 0; i < 8; i += 2)
		join(&players[i]);
	for (i = 1; i < 8; i += 2)
		add_thread(players[i].tid, players[i].sp, players[i].tp);
	walked_find();
	ck_assert_uint_ge(walked_stacks.num_ended, 4);
	for (i = 0; i < 8; i++) {
		ck_assert_int_eq(dead(players[i].sp), i % 2 == 0);
		ck_assert(!dead(players[i].tp));
	}
	for (i = 1; i < 8; i += 2)
		join(&players[i]);
}

/* Its tid is 0 for a moment, or its memory says so: it is in the snapshot. */
TEST(live_thread_that_looks_ended)
{
	struct player player;
	int *tid;

	start(&player, NULL);
	tid = (int *)(player.tp + MU_PTHREAD_TID);
	ck_assert_int_eq(*tid, player.tid);
	*tid = 0;
	/* On an alternate stack: only its thread pointer tells. */
	add_thread(player.tid, 0, player.tp);
	walked_find();
	*tid = player.tid;
	ck_assert(!dead(player.sp));
	join(&player);
}

/* Another thread runs on the stack of an ended one. */
TEST(ended_thread_with_a_runner)
{
	struct player player;

	start(&player, NULL);
	join(&player);
	add_thread(getpid(), player.sp - 5000, mu_arch_tp());
	walked_find();
	ck_assert(!dead(player.sp));
}

/* After the join it is the program's memory again, and can hold anything. */
TEST(stack_that_the_program_brought)
{
	struct player player;
	char *stack = mmap(NULL, STACK_SIZE, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	start(&player, stack);
	join(&player);
	add_thread(getpid(), mu_arch_sp(), mu_arch_tp());
	walked_find();
	ck_assert(!dead((uintptr_t)stack));
	ck_assert(!dead(player.sp));
}

/* The heap is not searched. */
TEST(skipped_memory)
{
	struct player player;
	struct mu_range stack;

	start(&player, NULL);
	stack = stack_of(&player);
	join(&player);
	mu_ranges_add(&walked_skip, stack);
	mu_ranges_seal(&walked_skip);
	walked_find();
	ck_assert(!dead(player.sp));
}
#endif

SUITE(.setup = walked_setup, .teardown = image_teardown);
