#include "lib/command/traced_threads.h"

#include <stdlib.h>
#include <sys/ptrace.h>

#include "mu/array.h"
#include "mu/sys.h"
#include "ptrace/live/proc.h"

struct mu_traced *
mu_traced_find(const struct mu_traced_threads *threads, pid_t tid)
{
	size_t i;

	for (i = 0; i < threads->count; i++) {
		if (threads->threads[i].tid == tid)
			return &threads->threads[i];
	}
	return NULL;
}

struct mu_traced *
mu_traced_next(const struct mu_traced_threads *threads, pid_t pid,
    const struct mu_traced *last)
{
	size_t i = last == NULL ? 0 : (size_t)(last - threads->threads) + 1;

	for (; i < threads->count; i++)
		if (threads->threads[i].pid == pid)
			return &threads->threads[i];
	return NULL;
}

struct mu_traced *
mu_traced_add(struct mu_traced_threads *threads, pid_t tid, pid_t pid)
{
	if (!mu_array_room(
		threads->threads, threads->count, threads->max, 64, SIZE_MAX))
		return NULL;
	threads->threads[threads->count] =
	    (struct mu_traced) { .tid = tid, .pid = pid };
	return &threads->threads[threads->count++];
}

/* The process of thread TID; 0 if it has ended. */
static pid_t
process_of(pid_t tid)
{
	char status[MU_PROC_STATUS_SIZE];
	int64_t pid;

	mu_proc_status_read(tid, 0, status, sizeof(status));
	pid = mu_proc_status_number(status, "\nTgid:", 0, 10);
	return pid > 0 ? (pid_t)pid : 0;
}

struct mu_traced *
mu_traced_known(struct mu_traced_threads *threads, pid_t tid)
{
	struct mu_traced *thread = mu_traced_find(threads, tid);

	return thread != NULL ? thread
			      : mu_traced_add(threads, tid, process_of(tid));
}

void
mu_traced_forget(struct mu_traced_threads *threads, struct mu_traced *thread)
{
	if (thread->stop != NULL)
		threads->num_stops--;
	if (thread->last != NULL)
		threads->num_last--;
	free(thread->stop);
	free(thread->last);
	*thread = threads->threads[--threads->count];
}

void
mu_traced_continue(pid_t tid, int signo)
{
	mu_sys_ptrace(PTRACE_CONT, tid, 0, (uintptr_t)signo);
}

void
mu_traced_resume(struct mu_traced *thread)
{
	thread->stopped = false;
	if (thread->listens)
		mu_sys_ptrace(PTRACE_LISTEN, thread->tid, 0, 0);
	else
		mu_traced_continue(thread->tid, thread->signo);
}

void
mu_traced_resume_all(struct mu_traced_threads *threads, pid_t pid)
{
	struct mu_traced *thread = NULL;

	while ((thread = mu_traced_next(threads, pid, thread)) != NULL)
		if (thread->stopped)
			mu_traced_resume(thread);
}
