#include "lib/malloc_debug/leaktracer/state.h"

#include "mu/sys.h"

uint32_t leaktracer_state = LEAKTRACER_GENERATION;
__thread uint32_t leaktracer_mark;

static uint64_t since_ns;

uint64_t
leaktracer_since(void)
{
	return __atomic_load_n(&since_ns, __ATOMIC_RELAXED);
}

static uint32_t
load(void)
{
	return __atomic_load_n(&leaktracer_state, __ATOMIC_RELAXED);
}

static bool
change(uint32_t *from, uint32_t to)
{
	return __atomic_compare_exchange_n(&leaktracer_state, from, to, false,
	    __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

static uint32_t
marks_undone(uint32_t state)
{
	state = (state / LEAKTRACER_GENERATION + 1) * LEAKTRACER_GENERATION;
	return state == 0 ? LEAKTRACER_GENERATION : state;
}

/* A block whose release was missed may have been replaced by another one. */
static void
drop_records(uint32_t state)
{
	if ((state & LEAKTRACER_RELEASES) == 0)
		__atomic_store_n(&since_ns, mu_sys_now_ns(), __ATOMIC_RELAXED);
}

void
leaktracer_start_all(void)
{
	uint32_t state = load();

	do
		drop_records(state);
	while (!change(&state,
	    marks_undone(state) | LEAKTRACER_ALL | LEAKTRACER_RELEASES));
}

void
leaktracer_start_thread(void)
{
	uint32_t state = load();

	do {
		if ((state & LEAKTRACER_ALL) != 0)
			return;
		drop_records(state);
	} while (!change(&state, state | LEAKTRACER_RELEASES));
	leaktracer_mark = state / LEAKTRACER_GENERATION;
}

void
leaktracer_stop_allocations(void)
{
	uint32_t state = load();

	do {
		if ((state & LEAKTRACER_ALL) == 0) {
			leaktracer_mark = 0;
			return;
		}
	} while (!change(&state, state & ~LEAKTRACER_ALL));
}

void
leaktracer_stop(void)
{
	uint32_t state = load();

	while (!change(&state, marks_undone(state)))
		continue;
}
