/*
 * Malloc is frozen and thawed thousands of times while threads allocate,
 * free each other's blocks, come and go: no block is harmed, all of them go
 * on.
 */
#include <malloc.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/frozen.h"
#include "tests/support/suite.h"

#define ROUNDS 5000
#define HAMMERS 4

static int hammer_stop;
static unsigned long hammer_rounds[HAMMERS], hammer_wrong, spawned;
static void *exchange[64]; /* freed by another thread than allocated */

static unsigned
next_random(unsigned *state)
{
	*state = *state * 1664525u + 1013904223u;
	return *state >> 8;
}

static bool
is_filled(const unsigned char *p)
{
	size_t size = malloc_usable_size((void *)p), i;

	for (i = 1; i < size; i += 61)
		if (p[i] != p[0])
			return false;
	return true;
}

static void
churn(unsigned *state)
{
	size_t size = 16 + next_random(state) % 6000;
	unsigned char *p = malloc(size), *old;

	if (p == NULL) {
		__atomic_add_fetch(&hammer_wrong, 1, __ATOMIC_RELAXED);
		return;
	}
	memset(p, (int)(size & 0xff), malloc_usable_size(p));
	old = __atomic_exchange_n(
	    &exchange[next_random(state) % 64], p, __ATOMIC_ACQ_REL);
	if (old != NULL && !is_filled(old))
		__atomic_add_fetch(&hammer_wrong, 1, __ATOMIC_RELAXED);
	free(old);
}

static void *
hammer(void *arg)
{
	unsigned long *rounds = arg;
	unsigned state = (unsigned)(uintptr_t)arg;

	while (!__atomic_load_n(&hammer_stop, __ATOMIC_ACQUIRE)) {
		churn(&state);
		__atomic_add_fetch(rounds, 1, __ATOMIC_RELAXED);
	}
	return NULL;
}

static void *
short_life(void *arg)
{
	unsigned state = (unsigned)(uintptr_t)arg;
	int i;

	for (i = 0; i < 8; i++)
		churn(&state);
	return NULL;
}

static void *
spawner(void *arg)
{
	pthread_t threads[4];
	uintptr_t i;

	while (!__atomic_load_n(&hammer_stop, __ATOMIC_ACQUIRE)) {
		for (i = 0; i < 4; i++)
			if (pthread_create(&threads[i], NULL, short_life,
				(void *)(spawned + i)) != 0)
				abort();
		for (i = 0; i < 4; i++)
			pthread_join(threads[i], NULL);
		__atomic_add_fetch(&spawned, 4, __ATOMIC_RELAXED);
	}
	return arg;
}

TEST(rounds_under_load)
{
	pthread_t threads[HAMMERS + 1];
	struct mu_image image;
	size_t i;

	for (i = 0; i < HAMMERS; i++)
		pthread_create(&threads[i], NULL, hammer, &hammer_rounds[i]);
	pthread_create(&threads[HAMMERS], NULL, spawner, NULL);
	for (i = 0; i < ROUNDS; i++) {
		freeze(&image);
		thaw(&image);
	}
	/* All of them still go on. */
	for (i = 0; i < HAMMERS; i++) {
		unsigned long from =
		    __atomic_load_n(&hammer_rounds[i], __ATOMIC_RELAXED);

		while (__atomic_load_n(&hammer_rounds[i], __ATOMIC_RELAXED) <
		    from + 100)
			sched_yield();
	}
	__atomic_store_n(&hammer_stop, 1, __ATOMIC_RELEASE);
	for (i = 0; i <= HAMMERS; i++)
		pthread_join(threads[i], NULL);
	ck_assert_uint_gt(spawned, 0);
	ck_assert_uint_eq(hammer_wrong, 0);
}
