/*
 * malloc and free at the end of DEPTH calls, which go one of two ways at each
 * level: as many different stacks. Prints nanoseconds of the clock on the wall
 * a pair; threads run side by side, each with its own blocks.
 *
 * Usage: pairs DEPTH THREADS THOUSANDS
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define LIVE 1024
#define MOST 64

struct player {
	pthread_t thread;
	void *live[LIVE];
	unsigned long pairs;
	unsigned depth, state;
	double took_ns;
};

static double
now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static void
pair(struct player *player)
{
	void **slot;

	player->state = player->state * 1664525u + 1013904223u;
	slot = &player->live[(player->state >> 20) % LIVE];
	free(*slot);
	*slot = malloc(16 + (player->state >> 8) % 512);
	*(volatile char *)*slot = 1;
}

static void go_left(struct player *player, unsigned depth, unsigned way);

/* The statements after the calls prevent tail calls. */
__attribute__((noinline)) static void
go_right(struct player *player, unsigned depth, unsigned way)
{
	if (depth == 0)
		pair(player);
	else if (way & 1)
		go_left(player, depth - 1, way >> 1);
	else
		go_right(player, depth - 1, way >> 1);
	__asm__ volatile("" ::"r"(player) : "memory");
}

__attribute__((noinline)) static void
go_left(struct player *player, unsigned depth, unsigned way)
{
	if (depth == 0)
		pair(player);
	else if (way & 1)
		go_right(player, depth - 1, way >> 1);
	else
		go_left(player, depth - 1, way >> 1);
	__asm__ volatile("nop" ::"r"(player) : "memory");
}

static void *
play(void *arg)
{
	struct player *player = arg;
	double begin = now_ns();
	unsigned long i;

	for (i = 0; i < player->pairs; i++)
		go_left(player, player->depth, player->state >> 12);
	player->took_ns = now_ns() - begin;
	return NULL;
}

int
main(int argc, char **argv)
{
	static struct player players[MOST];
	unsigned long count = argc > 2 ? strtoul(argv[2], NULL, 10) : 1, i;
	double longest = 0;

	if (count < 1 || count > MOST)
		return 2;
	for (i = 0; i < count; i++) {
		players[i].depth = argc > 1 ? (unsigned)atoi(argv[1]) : 10;
		players[i].pairs =
		    1000ul * (argc > 3 ? strtoul(argv[3], NULL, 10) : 2000);
		players[i].state = (unsigned)i + 1;
		pthread_create(&players[i].thread, NULL, play, &players[i]);
	}
	for (i = 0; i < count; i++) {
		pthread_join(players[i].thread, NULL);
		if (players[i].took_ns > longest)
			longest = players[i].took_ns;
	}
	printf("%.3f\n", longest / (double)players[0].pairs);
	return 0;
}
