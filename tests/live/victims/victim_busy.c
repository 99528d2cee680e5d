/*
 * A busy program that does not use the library and can tell whether anything
 * was changed: threads that allocate and verify their blocks, one that sleeps
 * and one that reads, where no call may end early, signals that are counted,
 * children that are waited for, work with a known result.
 *
 * It loses blocks first: its first lines tell which entries they make,
 * "<address in hexadecimal> <blocks below>", then how many blocks and bytes in
 * all, then "ready". From the end of its input on it winds up and says
 * "unharmed" or what was wrong.
 *
 * Usage: victim_busy BLOCKS THREADS
 * THREADS "alone": the main thread does all that can be done without others.
 */
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/support/hide.h"

#define MAX_THREADS 16
#define HELD 64 /* blocks a thread */
#define SINGLES 20
#define CHAIN 10
#define CYCLE 6
#define TREE 15
#define LOST_MAX 256
#define PENDING_MAX 64
#define WORK 20000

static struct {
	uintptr_t hidden; /* the entry's block, or 0: of another */
	size_t below;
} entries[LOST_MAX];
static size_t num_entries, num_lost, bytes_lost;

extern void **volatile table;
void **volatile table; /* of what is not lost; gcc drops it if static */
static volatile int stopping;
static volatile unsigned received, children_ended;
static unsigned sent, children, interrupted, corrupted, wrong_results;
static int idle_pipe[2];

static void *
lose(size_t size)
{
	void *block = malloc(size);

	memset(block, 0, malloc_usable_size(block));
	num_lost++;
	bytes_lost += malloc_usable_size(block);
	return block;
}

static void
add_entry(void *block, size_t below)
{
	entries[num_entries].hidden = mu_hide(block);
	entries[num_entries++].below = below;
}

static __attribute__((noinline)) void
lose_shapes(void)
{
	void **blocks[CHAIN + TREE], **lowest;
	size_t i;

	for (i = 0; i < SINGLES; i++)
		add_entry(lose(24 + 40 * i), 0);
	add_entry(lose(300000), 0);
	for (i = 0; i < CHAIN; i++) {
		blocks[i] = lose(100);
		if (i > 0)
			blocks[i - 1][i % 3] = blocks[i];
	}
	add_entry(blocks[0], CHAIN - 1);
	for (i = 0; i < CYCLE; i++)
		blocks[i] = lose(72);
	for (lowest = blocks[0], i = 0; i < CYCLE; i++) {
		blocks[i][2] = blocks[(i + 1) % CYCLE];
		if (blocks[i] < lowest)
			lowest = blocks[i];
	}
	add_entry(lowest, CYCLE - 1);
	for (i = 0; i < TREE; i++) {
		blocks[i] = lose(48 + i);
		if (i > 0)
			blocks[(i - 1) / 2][i % 2] = blocks[i];
	}
	add_entry(blocks[0], TREE - 1);
	memset(blocks, 0, sizeof(blocks));
	__asm__ volatile("" : : "r"(blocks) : "memory");
}

static void
keep(size_t count)
{
	size_t i;

	table = calloc(count + 1, sizeof(*table));
	for (i = 0; i < count; i++)
		table[i] = calloc(1, 16 + i * 37 % 150);
}

static void
tell(void)
{
	size_t i;

	for (i = 0; i < num_entries; i++)
		printf("%lx %zu\n",
		    (unsigned long)(uintptr_t)mu_reveal(entries[i].hidden),
		    entries[i].below);
	printf("%zu blocks %zu bytes\nready\n", num_lost, bytes_lost);
	fflush(stdout);
}

/* Check one block, and give it up or another size; the next X. */
static uint64_t
churn_one(unsigned char **held, size_t *sizes, uint64_t x)
{
	size_t i, j;

	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	i = x % HELD;
	for (j = 0; held[i] != NULL && j < sizes[i]; j++)
		if (held[i][j] != (unsigned char)(sizes[i] + i))
			__atomic_fetch_add(&corrupted, 1, __ATOMIC_RELAXED);
	if (held[i] != NULL && x >> 20 & 1) {
		free(held[i]);
		held[i] = NULL;
		return x;
	}
	sizes[i] = 1 + (x >> 32) % (x >> 21 & 15 ? 300 : 200000);
	held[i] = realloc(held[i], sizes[i]);
	/* Half of an old pointer beside four of our bytes may be a pointer. */
	memset(held[i], 0, malloc_usable_size(held[i]));
	memset(held[i], (int)(sizes[i] + i), sizes[i]);
	return x;
}

/* A thread with its own arena, at full speed. */
static void *
churn(void *arg)
{
	unsigned char *held[HELD] = { 0 };
	size_t sizes[HELD] = { 0 }, i;
	uint64_t x = 88172645463325252ull + (uintptr_t)arg;

	while (!stopping)
		x = churn_one(held, sizes, x);
	for (i = 0; i < HELD; i++)
		free(held[i]);
	return NULL;
}

/* Run by the only thread, which takes no lock in malloc. */
static void
churn_alone(void)
{
	static unsigned char *held[HELD];
	static size_t sizes[HELD];
	static uint64_t x = 88172645463325252ull;
	unsigned rounds;

	for (rounds = 0; rounds < 20000; rounds++)
		x = churn_one(held, sizes, x);
}

/* This thread blocks all signals: nothing may end its calls early. */
static void *
sleep_and_read(void *arg)
{
	struct timespec nap = { 0, 3000000 };
	char byte;

	while (!stopping) {
		if (arg == NULL ? nanosleep(&nap, NULL) != 0
				: read(idle_pipe[0], &byte, 1) != 0)
			__atomic_fetch_add(&interrupted, 1, __ATOMIC_RELAXED);
	}
	return NULL;
}

static void
count_signal(int signo)
{
	if (signo == SIGCHLD)
		children_ended++;
	else
		received++;
}

static uint64_t
work(void)
{
	uint64_t hash = 14695981039346656037ull;
	double sum = 1;
	int i;

	for (i = 0; i < WORK; i++) {
		hash = (hash ^ (uint64_t)i) * 1099511628211ull;
		sum += 1.0 / (i + sum);
	}
	return hash ^ (uint64_t)(sum * 1e9);
}

static void
fork_and_wait(void)
{
	pid_t pid = fork(), got;
	int status = 0;

	if (pid == 0)
		_exit(7);
	children++;
	while ((got = waitpid(-1, &status, 0)) == -1 && errno == EINTR)
		continue;
	if (got != pid || !WIFEXITED(status) || WEXITSTATUS(status) != 7)
		wrong_results++;
	if (waitpid(-1, NULL, WNOHANG) != -1 || errno != ECHILD)
		wrong_results++;
}

static bool
input_ended(void)
{
	char byte;
	ssize_t got = read(0, &byte, 1);

	return got == 0 || (got == -1 && errno != EAGAIN && errno != EINTR);
}

static void
work_until_told(bool alone)
{
	uint64_t expected = work();
	union sigval value = { 0 };
	unsigned round;

	for (round = 0; !input_ended(); round++) {
		if (work() != expected)
			wrong_results++;
		if (alone)
			churn_alone();
		if (sent - received < PENDING_MAX &&
		    sigqueue(getpid(), SIGRTMIN, value) == 0)
			sent++;
		if (round % 64 == 0)
			fork_and_wait();
	}
}

static void
catch_signals(void)
{
	struct sigaction action = { .sa_handler = count_signal,
		.sa_flags = SA_RESTART };

	sigaction(SIGRTMIN, &action, NULL);
	sigaction(SIGCHLD, &action, NULL);
}

static int
judge(void)
{
	if (received == sent && children_ended == children &&
	    interrupted == 0 && corrupted == 0 && wrong_results == 0) {
		printf("unharmed\n");
		return 0;
	}
	printf("signals %u of %u, children %u of %u, %u calls cut short, %u"
	       " blocks changed, %u wrong results\n",
	    received, sent, children_ended, children, interrupted, corrupted,
	    wrong_results);
	return 1;
}

int
main(int argc, char **argv)
{
	bool alone = argc > 2 && strcmp(argv[2], "alone") == 0;
	size_t threads = argc > 2 ? (size_t)atoi(argv[2]) : 4, i;
	size_t num_idle = alone ? 0 : 2;
	pthread_t churners[MAX_THREADS], idle[2];
	sigset_t all, old;

	if (threads > MAX_THREADS || pipe(idle_pipe) != 0)
		return 2;
	keep(argc > 1 ? strtoul(argv[1], NULL, 10) : 1000);
	lose_shapes();
	scrub_stack();
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	for (i = 0; i < threads; i++)
		pthread_create(&churners[i], NULL, churn, (void *)(i + 1));
	for (i = 0; i < num_idle; i++)
		pthread_create(
		    &idle[i], NULL, sleep_and_read, i == 0 ? NULL : &idle_pipe);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	catch_signals();
	fcntl(0, F_SETFL, O_NONBLOCK);
	tell();
	scrub_stack();
	work_until_told(alone);
	stopping = 1;
	close(idle_pipe[1]);
	for (i = 0; i < threads; i++)
		pthread_join(churners[i], NULL);
	for (i = 0; i < num_idle; i++)
		pthread_join(idle[i], NULL);
	return judge();
}
