/*
 * A pass in the child of fork(), made by a thread of a multi-threaded parent.
 * The tcaches of the other threads remain without their threads; their chunks
 * are free.
 */
#include "memunreachable/memunreachable.h"
#include "tests/support/faults/watched_call.h"
#include "tests/support/hide.h"
#include "tests/support/live.h"
#include "tests/support/suite.h"

#define OTHERS 3
#define LOST 5
#define LOST_SIZE 777

static pthread_barrier_t barrier;

/* A tcache with something in it, as long as the thread lives. */
static void *
fill_tcache(void *arg)
{
	void *blocks[7];
	size_t i;

	(void)arg;
	for (i = 0; i < 7; i++)
		blocks[i] = malloc(200);
	for (i = 0; i < 7; i++)
		free(blocks[i]);
	pthread_barrier_wait(&barrier);
	pthread_barrier_wait(&barrier);
	return NULL;
}

/* The exit status says what the child saw. */
static int
child(void)
{
	struct UnreachableMemoryInfo info;

	memset(&info, 0, sizeof(info));
	if (!GetUnreachableMemory(&info, 10)) {
		(void)!write(2, info.reason, strlen(info.reason));
		return 1;
	}
	if (info.status != MEMUNREACHABLE_COMPLETE)
		return 2;
	/* The stack of a first thread that is no more is searched as it is. */
	if (info.num_leaks == LOST || info.num_leaks == LOST - 1)
		return 0;
	show(&info);
	return 3;
}

static void *
fork_one(void *allocates)
{
	void *volatile block;
	pid_t pid;
	int status;

	if (allocates != NULL) {
		block = malloc(300); /* not to be optimized away */
		free(block);
	}
	pid = fork();
	if (pid == 0)
		_exit(child());
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return (void *)-1;
	return (void *)(intptr_t)status;
}

static __attribute__((noinline)) void
lose(void)
{
	size_t i;

	for (i = 0; i < LOST; i++)
		mu_hide(memset(malloc(LOST_SIZE), 'x', LOST_SIZE));
}

/* _i: does the forking thread have a tcache? */
TEST_LOOP(forked_by_a_thread, 0, 2)
{
	pthread_t others[OTHERS], forker;
	void *status;
	size_t i;

	lose();
	scrub_stack();
	pthread_barrier_init(&barrier, NULL, OTHERS + 1);
	for (i = 0; i < OTHERS; i++)
		ck_assert_int_eq(
		    pthread_create(&others[i], NULL, fill_tcache, NULL), 0);
	pthread_barrier_wait(&barrier);
	ck_assert_int_eq(
	    pthread_create(&forker, NULL, fork_one, _i == 0 ? NULL : &barrier),
	    0);
	pthread_join(forker, &status);
	pthread_barrier_wait(&barrier);
	for (i = 0; i < OTHERS; i++)
		pthread_join(others[i], NULL);
	ck_assert_msg(status == NULL, "status 0x%lx", (unsigned long)status);
}

static int at_gate[2], from_gate[2];

/*
 * In the middle of a pass, with what is lost in plain sight on its stack. No
 * ck_assert: it allocates, and what this thread has at the fork() is lost in
 * the child.
 */
static ptrdiff_t
wait_in_pass(void *hidden, uintptr_t *words, size_t max)
{
	void *volatile seen[64];
	char byte = 0;
	size_t i;

	(void)words;
	(void)max;
	for (i = 0; i < 64; i++)
		seen[i] = mu_reveal((uintptr_t)hidden);
	if (write(at_gate[1], &byte, 1) != 1 ||
	    read(from_gate[0], &byte, 1) != 1)
		abort();
	return seen[0] == NULL;
}

static void *
pass_body(void *arg)
{
	(void)arg;
	NoLeaks();
	return NULL;
}

/*
 * The memory of a pass that another thread made then has no owner in the child,
 * and hides nothing.
 */
TEST(forked_beside_a_pass)
{
	uintptr_t hidden = mu_hide(memset(malloc(LOST_SIZE), 'x', LOST_SIZE));
	pthread_t passing;
	char byte = 0;
	int status;
	pid_t pid;
	size_t i;

	for (i = 1; i < LOST; i++)
		mu_hide(memset(malloc(LOST_SIZE), 'x', LOST_SIZE));
	scrub_stack();
	ck_assert(pipe(at_gate) == 0 && pipe(from_gate) == 0);
	ck_assert(memunreachable_register_root_provider(
	    wait_in_pass, (void *)hidden));
	ck_assert_int_eq(pthread_create(&passing, NULL, pass_body, NULL), 0);
	ck_assert_int_eq(read(at_gate[0], &byte, 1), 1);
	pid = fork();
	if (pid == 0) {
		memunreachable_unregister_root_provider(
		    wait_in_pass, (void *)hidden);
		_exit(child());
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(write(from_gate[1], &byte, 1), 1);
	pthread_join(passing, NULL);
	ck_assert_msg(status == 0, "status 0x%x", (unsigned)status);
}

static int listener, installed;
static long asker;
static struct watched_call moment = { .argument = -1 };

static uintptr_t lost[LOST]; /* hidden */

static ptrdiff_t
leave_on_stack(void *ctx, uintptr_t *words, size_t max)
{
	void *volatile seen[8192]; /* more than what comes later writes over */
	size_t i;

	(void)ctx;
	(void)words;
	(void)max;
	for (i = 0; i < sizeof(seen) / sizeof(*seen); i++)
		seen[i] = mu_reveal(lost[i % LOST]);
	return seen[0] == NULL;
}

static void *
watched_body(void *arg)
{
	asker = syscall(SYS_gettid);
	listener = watched_call_filter(&moment, false);
	__atomic_store_n(&installed, 1, __ATOMIC_RELEASE);
	NoLeaks();
	return arg;
}

/*
 * What the thread waits in is a call of a pass: a child is forked, and must
 * find what is lost. How many calls there were; wrong children: STATUS.
 */
static int
fork_at_each(int *status)
{
	struct pollfd wait = { listener, POLLIN, 0 };
	struct seccomp_notif ask;
	struct seccomp_notif_resp answer;
	int calls = 0, one;
	pid_t pid;

	while (poll(&wait, 1, 60000) > 0 && (wait.revents & POLLIN) != 0) {
		memset(&ask, 0, sizeof(ask));
		if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &ask) != 0)
			break;
		if (ask.pid == asker) {
			calls++;
			pid = fork();
			if (pid == 0)
				_exit(child());
			if (waitpid(pid, &one, 0) != pid || one != 0)
				*status = one;
		}
		answer = (struct seccomp_notif_resp) { .id = ask.id,
			.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE };
		ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &answer);
	}
	return calls;
}

/* The span from the first to the last call of that kind. */
TEST_LOOP(forked_within_a_pass, 0, 2)
{
	static const int calls[] = { SYS_munmap, SYS_madvise };
	pthread_t thread;
	int status = 0, count = 0;
	size_t i;

	for (i = 0; i < LOST; i++)
		lost[i] = mu_hide(memset(malloc(LOST_SIZE), 'x', LOST_SIZE));
	ck_assert(memunreachable_register_root_provider(leave_on_stack, NULL));
	moment.nr = calls[_i];
	scrub_stack();
	ck_assert_int_eq(pthread_create(&thread, NULL, watched_body, NULL), 0);
	while (!__atomic_load_n(&installed, __ATOMIC_ACQUIRE))
		sched_yield();
	if (listener >= 0)
		count = fork_at_each(&status);
	else
		printf("SKIPPED: no seccomp listeners here (%d)\n", listener);
	pthread_join(thread, NULL);
	ck_assert(listener < 0 || count > 0);
	ck_assert_msg(status == 0, "status 0x%x", (unsigned)status);
}
