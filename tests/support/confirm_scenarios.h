/*
 * The programs that tests/live/test_confirm.c runs: blocks that one look at the
 * program finds unreachable although they are not.
 */
#ifndef TESTS_SUPPORT_CONFIRM_SCENARIOS_H
#define TESTS_SUPPORT_CONFIRM_SCENARIOS_H

#include <signal.h>
#include <time.h>

#include "tests/support/clock.h"
#include "tests/support/live.h"
#include "tests/support/scenario.h"

/*
 * By the hour: a root provider is asked before each look, and moves pointers.
 *	            first look       second look
 *	shy         hidden           in a global
 *	late        in a global      hidden; and points to candidate
 *	candidate     hidden           in late only
 *	lost        hidden           hidden
 */
enum { SHY, LATE, CANDIDATE, LOST, NUM_MOVED };

static uintptr_t moved[NUM_MOVED]; /* hidden */
static void *moved_place;
static unsigned looks;

LIVE ptrdiff_t
move(void *ctx, uintptr_t *words, size_t max)
{
	(void)ctx;
	(void)words;
	(void)max;
	if (looks++ % 2 == 0) {
		block_link(moved[LATE], 0, mu_hide(NULL));
		put(&moved_place, moved[LATE]);
	} else {
		block_link(moved[LATE], 0, moved[CANDIDATE]);
		put(&moved_place, moved[SHY]);
	}
	scrub();
	return 0;
}

LIVE void
make_moved(void)
{
	size_t i;

	for (i = 0; i < NUM_MOVED; i++)
		moved[i] = block_new(72);
	memunreachable_register_root_provider(move, NULL);
}

static const char *const moved_names[NUM_MOVED] = { "shy", "late", "candidate",
	"lost" };

static int
moved_by_call(void)
{
	struct UnreachableMemoryInfo info = { 0 };
	size_t i, j;

	make_moved();
	scrub();
	GetUnreachableMemory(&info, 10);
	printf("status %d, %zu leaks, %zu bytes, reason <%s>, looks %u\n",
	    info.status, info.num_leaks, info.leak_bytes, info.reason, looks);
	for (i = 0; i < NUM_MOVED; i++)
		for (j = 0; j < info.num_reported; j++)
			if (info.leaks[j].begin == ~moved[i])
				printf("reported: %s\n", moved_names[i]);
	/*
	 * With stopping by signal only other threads are stopped, and there are
	 * none.
	 */
	return (info.pause_ns > 0 || info.stop == MEMUNREACHABLE_STOP_SIGNAL) &&
		info.pause_ns < info.total_ns
	    ? 0
	    : 1;
}

static int
moved_at_exit(void)
{
	make_moved();
	printf("lost is %lx\n", (unsigned long)moved[LOST]);
	scrub();
	return 0;
}

/* The option signal= watches SIGUSR2. */
static int
moved_by_signal(void)
{
	char byte;

	make_moved();
	scrub();
	/* From here on we may be asked: the address is known hidden only. */
	printf("lost is %lx\n", (unsigned long)moved[LOST]);
	fflush(stdout);
	while (read(0, &byte, 1) < 0)
		continue;
	return 0;
}

static int
nothing_lost(void)
{
	struct UnreachableMemoryInfo info = { 0 };

	memunreachable_register_root_provider(move, NULL);
	moved[LATE] = moved[CANDIDATE] = block_new(72);
	moved[SHY] = moved[LATE];
	scrub();
	GetUnreachableMemory(&info, 10);
	printf("status %d, %zu leaks, looks %u\n", info.status, info.num_leaks,
	    looks);
	return 0;
}

/*
 * Pointers in flight: a thread sends blocks through a pipe to itself, where a
 * pointer stays for FLIGHT_NS, and then puts them where they can be seen. Each
 * flies once, and no address is used again.
 */
#define MAX_FLIGHTS 65536
#define AT_A_TIME 8
#define FLIGHT_NS 3000000u
#define CONFIRM_NS 50000000u /* between two looks, at least */

struct flight {
	uintptr_t hidden;
	uint64_t sent_ns, landed_ns; /* 0: still in flight */
	void *visible;
};

static struct flight flights[MAX_FLIGHTS];
static int flight_pipe[2];
static int flights_over;

static bool
is_over(void)
{
	return __atomic_load_n(&flights_over, __ATOMIC_ACQUIRE) != 0;
}

LIVE void
send_block(struct flight *flight)
{
	void *block = block_fresh(0, 200);

	flight->hidden = mu_hide(block);
	flight->sent_ns = now_ns();
	if (write(flight_pipe[1], &block, sizeof(block)) != sizeof(block))
		abort();
}

LIVE void
land_block(struct flight *flight)
{
	if (read(flight_pipe[0], &flight->visible, sizeof(void *)) !=
	    sizeof(void *))
		abort();
	__atomic_store_n(&flight->landed_ns, now_ns(), __ATOMIC_RELEASE);
}

static void *
fly(void *arg)
{
	struct timespec span = { 0, FLIGHT_NS };
	size_t first, i;

	for (first = 0; first < MAX_FLIGHTS && !is_over(); first += AT_A_TIME) {
		for (i = 0; i < AT_A_TIME; i++)
			send_block(&flights[first + i]);
		scrub();
		nanosleep(&span, NULL);
		for (i = 0; i < AT_A_TIME; i++)
			land_block(&flights[first + i]);
		scrub();
		nanosleep(&span, NULL);
	}
	return arg;
}

LIVE bool
finds(const struct UnreachableMemoryInfo *info, uintptr_t hidden)
{
	size_t i;

	for (i = 0; i < info->num_reported; i++)
		if (info->leaks[i].begin == ~hidden)
			return true;
	return false;
}

/*
 * How many entries of INFO are false although their pointer was in flight for
 * less than the time between two looks. The machine may be slow: a flight may
 * have lasted longer than it should.
 */
LIVE size_t
count_false(const struct UnreachableMemoryInfo *info, size_t *slow)
{
	const struct flight *flight;
	size_t wrong = 0;
	uint64_t landed;

	for (flight = flights; flight < flights + MAX_FLIGHTS; flight++) {
		if (flight->hidden == 0 || !finds(info, flight->hidden))
			continue;
		landed = __atomic_load_n(&flight->landed_ns, __ATOMIC_ACQUIRE);
		if (landed == 0 || landed - flight->sent_ns >= CONFIRM_NS)
			++*slow;
		else
			wrong++;
	}
	return wrong;
}

/* Ask TIMES, or until something false was reported; a real leak is there. */
static int
watch_flights(unsigned times)
{
	struct UnreachableMemoryInfo info = { 0 };
	size_t wrong = 0, slow = 0, missed = 0, failed = 0;
	uintptr_t lost = block_new(72);
	unsigned i;
	pthread_t flier;

	if (pipe(flight_pipe) != 0 ||
	    pthread_create(&flier, NULL, fly, NULL) != 0)
		return 1;
	for (i = 0; i < times && wrong == 0; i++) {
		scrub();
		GetUnreachableMemory(&info, 1000);
		failed += info.status != MEMUNREACHABLE_COMPLETE;
		missed += !finds(&info, lost);
		/* What was in flight lands first. */
		usleep(20000);
		wrong += count_false(&info, &slow);
		FreeUnreachableMemoryInfo(&info);
	}
	__atomic_store_n(&flights_over, 1, __ATOMIC_RELEASE);
	pthread_join(flier, NULL);
	printf("%u passes: %zu failed, %zu missed the leak, false %s\n", i,
	    failed, missed, wrong > 0 ? "yes" : "no");
	if (slow > 0)
		printf("%zu flights took too long\n", slow);
	return 0;
}

static int
flights_once(void)
{
	return watch_flights(300);
}

static int
flights_often(void)
{
	return watch_flights(25);
}

static const struct scenario scenarios[] = {
	{ "moved_by_call", moved_by_call },
	{ "moved_at_exit", moved_at_exit },
	{ "moved_by_signal", moved_by_signal },
	{ "nothing_lost", nothing_lost },
	{ "flights_once", flights_once },
	{ "flights_often", flights_often },
	{ NULL, NULL },
};

#endif
