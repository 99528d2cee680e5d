#include "ptrace/live/signal_threads_rows.h"

struct mu_signal_thread *
mu_signal_thread_add(struct mu_signal_stop *stop, pid_t tid)
{
	struct mu_signal_thread_row *row = stop->last;
	struct mu_signal_thread *thread;

	if (row == NULL || row->count == MU_SIGNAL_THREAD_ROW) {
		row = mu_arena_alloc(stop->arena, 1, sizeof(*row));
		if (row == NULL)
			return NULL;
		__atomic_store_n(
		    stop->last == NULL ? &stop->rows : &stop->last->next, row,
		    __ATOMIC_RELEASE);
		stop->last = row;
	}
	thread = &row->threads[row->count];
	*thread = (struct mu_signal_thread) { .tid = tid,
		.state = MU_SIGNAL_THREAD_GONE };
	__atomic_store_n(&row->count, row->count + 1, __ATOMIC_RELEASE);
	stop->count++;
	return thread;
}

struct mu_signal_thread *
mu_signal_thread_find(const struct mu_signal_stop *stop,
    struct mu_signal_thread_cursor *at, pid_t tid)
{
	struct mu_signal_thread *thread;
	size_t left;

	for (left = stop->count; left > 0; left--) {
		thread = mu_signal_thread_next(at);
		if (thread == NULL) {
			*at = mu_signal_thread_first(stop);
			thread = mu_signal_thread_next(at);
		}
		if (thread->tid == tid)
			return thread;
	}
	return NULL;
}

void
mu_signal_thread_give_up(
    struct mu_signal_stop *stop, struct mu_signal_thread *thread)
{
	int wanted = MU_SIGNAL_THREAD_WANTED;

	if (__atomic_compare_exchange_n(&thread->state, &wanted,
		MU_SIGNAL_THREAD_GONE, false, __ATOMIC_ACQ_REL,
		__ATOMIC_ACQUIRE))
		__atomic_sub_fetch(&stop->missing, 1, __ATOMIC_ACQ_REL);
}
