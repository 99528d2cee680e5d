/* lib/malloc_debug/leaktracer/state.c: what is monitored in which thread. */
#include "lib/malloc_debug/leaktracer/state.h"

#include <semaphore.h>

#include "tests/support/suite.h"

/* A thread that executes commands and reports whether it is monitored. */
struct other {
	pthread_t thread;
	sem_t go, done;
	void (*act)(void);
	bool monitored;
};

static void *
obey(void *arg)
{
	struct other *other = arg;

	for (;;) {
		sem_wait(&other->go);
		if (other->act == NULL)
			return NULL;
		other->act();
		other->monitored = leaktracer_monitored();
		sem_post(&other->done);
	}
}

static void
nothing(void)
{
}

static void
other_start(struct other *other)
{
	sem_init(&other->go, 0, 0);
	sem_init(&other->done, 0, 0);
	ck_assert_int_eq(pthread_create(&other->thread, NULL, obey, other), 0);
}

static bool
other_does(struct other *other, void (*act)(void))
{
	other->act = act;
	sem_post(&other->go);
	if (act != NULL)
		sem_wait(&other->done);
	return other->monitored;
}

static void
other_end(struct other *other)
{
	other_does(other, NULL);
	pthread_join(other->thread, NULL);
}

TEST(nothing_is_monitored_before_start)
{
	ck_assert(!leaktracer_monitored());
	ck_assert(!leaktracer_releases());
	ck_assert_uint_eq(leaktracer_since(), 0);
}

TEST(life_cycle_of_all_threads)
{
	struct other other;

	other_start(&other);
	leaktracer_start_all();
	ck_assert(leaktracer_monitored());
	ck_assert(other_does(&other, nothing));
	ck_assert(leaktracer_releases());
	leaktracer_stop_allocations();
	ck_assert(!leaktracer_monitored());
	ck_assert(!other_does(&other, nothing));
	ck_assert(leaktracer_releases());
	leaktracer_stop();
	ck_assert(!leaktracer_releases());
	other_end(&other);
}

TEST(start_of_one_thread)
{
	struct other other;

	other_start(&other);
	leaktracer_start_thread();
	ck_assert(leaktracer_monitored());
	ck_assert(!other_does(&other, nothing));
	ck_assert(leaktracer_releases());
	ck_assert(other_does(&other, leaktracer_start_thread));
	leaktracer_stop_allocations();
	ck_assert(!leaktracer_monitored());
	ck_assert(other_does(&other, nothing));
	ck_assert(leaktracer_releases());
	other_end(&other);
}

/* The original leaves the marks of other threads. */
TEST(stop_all_undoes_the_marks_of_all_threads)
{
	struct other other;

	other_start(&other);
	ck_assert(other_does(&other, leaktracer_start_thread));
	leaktracer_stop();
	ck_assert(!other_does(&other, nothing));
	/* Nor do they come back with the next start of another thread. */
	leaktracer_start_thread();
	ck_assert(!other_does(&other, nothing));
	ck_assert(leaktracer_monitored());
	other_end(&other);
}

TEST(start_all_clears_marks)
{
	struct other other;

	other_start(&other);
	ck_assert(other_does(&other, leaktracer_start_thread));
	leaktracer_start_all();
	leaktracer_stop_allocations();
	ck_assert(!other_does(&other, nothing));
	other_end(&other);
}

TEST(start_of_one_thread_has_no_effect_while_all_are)
{
	leaktracer_start_all();
	leaktracer_start_thread();
	leaktracer_stop_allocations();
	ck_assert(!leaktracer_monitored());
}

TEST(records_are_dropped_if_releases_went_unseen)
{
	uint64_t first, second;

	leaktracer_start_all();
	first = leaktracer_since();
	ck_assert_uint_ne(first, 0);
	leaktracer_stop_allocations();
	leaktracer_start_all();
	leaktracer_start_all();
	ck_assert_uint_eq(leaktracer_since(), first);
	leaktracer_stop();
	ck_assert_uint_eq(leaktracer_since(), first);
	leaktracer_start_thread();
	second = leaktracer_since();
	ck_assert_uint_gt(second, first);
	leaktracer_start_all();
	ck_assert_uint_eq(leaktracer_since(), second);
}

TEST(the_count_of_undone_marks_wraps)
{
	leaktracer_state = UINT32_MAX & ~3u;
	leaktracer_start_thread();
	ck_assert(leaktracer_monitored());
	leaktracer_stop();
	ck_assert(!leaktracer_monitored());
	leaktracer_mark = 0; /* of a new thread */
	ck_assert(!leaktracer_monitored());
	leaktracer_start_thread();
	ck_assert(leaktracer_monitored());
}
