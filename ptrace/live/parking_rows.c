#include "ptrace/live/parking_rows.h"

struct mu_parked *
mu_parked_add(struct mu_parking *parking, pid_t tid)
{
	struct mu_parked_row *row = parking->last;
	struct mu_parked *thread;

	if (row == NULL || row->count == MU_PARKED_ROW) {
		row = mu_arena_alloc(parking->arena, 1, sizeof(*row));
		if (row == NULL)
			return NULL;
		__atomic_store_n(parking->last == NULL ? &parking->rows
						       : &parking->last->next,
		    row, __ATOMIC_RELEASE);
		parking->last = row;
	}
	thread = &row->threads[row->count];
	*thread = (struct mu_parked) { .tid = tid, .state = MU_PARKED_GONE };
	__atomic_store_n(&row->count, row->count + 1, __ATOMIC_RELEASE);
	parking->count++;
	return thread;
}

struct mu_parked *
mu_parked_find(
    const struct mu_parking *parking, struct mu_parked_cursor *at, pid_t tid)
{
	struct mu_parked *thread;
	size_t left;

	for (left = parking->count; left > 0; left--) {
		thread = mu_parked_next(at);
		if (thread == NULL) {
			*at = mu_parked_first(parking);
			thread = mu_parked_next(at);
		}
		if (thread->tid == tid)
			return thread;
	}
	return NULL;
}

void
mu_parked_give_up(struct mu_parking *parking, struct mu_parked *thread)
{
	int wanted = MU_PARKED_WANTED;

	if (__atomic_compare_exchange_n(&thread->state, &wanted, MU_PARKED_GONE,
		false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
		__atomic_sub_fetch(&parking->missing, 1, __ATOMIC_ACQ_REL);
}
