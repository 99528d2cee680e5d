#include "ptrace/live/snapshot.h"

#include <string.h>

#include "ptrace/live/asleep.h"
#include "ptrace/live/mappings.h"
#include "ptrace/live/proc.h"
#include "ptrace/live/registers.h"

/* Copy what SNAP has to the front of THREADS and WORDS. */
static bool
start_arrays(const struct mu_snapshot *snap, struct mu_thread *threads,
    struct mu_words *words)
{
	if (threads == NULL || !mu_words_reserve(words, snap->num_values))
		return false;
	if (snap->num_threads > 0)
		memcpy(threads, snap->threads,
		    snap->num_threads * sizeof(*threads));
	if (snap->num_values > 0)
		memcpy(words->words, snap->values,
		    snap->num_values * sizeof(*words->words));
	if (snap->num_values > 0 && snap->regnos != NULL)
		memcpy(words->regnos, snap->regnos,
		    snap->num_values * sizeof(*words->regnos));
	words->count = snap->num_values;
	return true;
}

/* Threads and words that have been read so far. */
struct reading {
	struct mu_thread *threads;
	size_t count;
	struct mu_words *words;
	struct mu_words *held; /* values that only the kernel holds */
	struct mu_why *why;
};

static enum mu_status
no_memory(struct mu_why *why)
{
	return mu_why(why, MU_ERR_NO_MEMORY, "no memory for registers");
}

static size_t
count_asleep(const struct mu_threads *stopped)
{
	return stopped->asleep == NULL ? 0 : stopped->asleep->count;
}

static enum mu_status
read_stopped(const void *source, struct reading *reading)
{
	const struct mu_threads *stopped = source;
	enum mu_status status = MU_OK;
	struct mu_tracee *tracee;
	size_t i;

	for (i = 0; i < stopped->count && status == MU_OK; i++) {
		tracee = &stopped->tracees[i];
		if (!mu_tracee_stopped(tracee))
			continue;
		status = mu_registers_read(&reading->threads[reading->count],
		    tracee->tid, &tracee->busy, reading->words, reading->why);
		reading->count++;
	}
	for (i = 0; i < count_asleep(stopped) && status == MU_OK; i++)
		if (!mu_asleep_read(&reading->threads[reading->count++],
			stopped->pid, stopped->asleep->tids[i], reading->words))
			status = no_memory(reading->why);
	return status;
}

/*
 * The kernel stores the alternate stack in each frame: save_altstack_ex() in
 * kernel/signal.c.
 */
static bool
add_alternate_stack(
    const struct mu_signal_thread *stopped, struct mu_words *held)
{
	const stack_t *stack = &stopped->frame->uc_stack;
	uintptr_t begin = (uintptr_t)stack->ss_sp;

	return (stack->ss_flags & SS_DISABLE) != 0 ||
	    !mu_word_plausible(begin) || mu_words_add(held, begin);
}

static enum mu_status
read_signal_stop(const void *source, struct reading *reading)
{
	const struct mu_signal_stop *stop = source;
	struct mu_signal_thread_cursor at = mu_signal_thread_first(stop);
	enum mu_status status = MU_OK;
	const struct mu_signal_thread *stopped;

	while (
	    status == MU_OK && (stopped = mu_signal_thread_next(&at)) != NULL) {
		if (mu_signal_thread_state(stopped) != MU_SIGNAL_THREAD_HERE)
			continue;
		status =
		    mu_registers_of_frame(&reading->threads[reading->count],
			stopped, &stop->layout, reading->words, reading->why);
		if (status == MU_OK &&
		    !add_alternate_stack(stopped, reading->held))
			status = mu_why(reading->why, MU_ERR_NO_MEMORY,
			    "no memory for alternate stacks");
		reading->count++;
	}
	return status;
}

static enum mu_status
add_stopped(const struct mu_tracer_stop_request *answer, size_t index,
    struct reading *reading)
{
	struct mu_thread thread = answer->threads[index];
	struct mu_words *words = reading->words;
	size_t from = thread.first_value, count = thread.num_values;

	if (from > answer->num_values || count > answer->num_values - from)
		return mu_why(reading->why, MU_ERR_ARGUMENT,
		    "the registers of thread %d are not those of a thread",
		    thread.tid);
	if (!mu_words_reserve(words, count))
		return no_memory(reading->why);
	thread.first_value = words->count;
	memcpy(words->words + words->count, answer->values + from,
	    count * sizeof(*words->words));
	memcpy(words->regnos + words->count, answer->regnos + from,
	    count * sizeof(*words->regnos));
	words->count += count;
	reading->threads[reading->count++] = thread;
	return MU_OK;
}

static enum mu_status
read_tracer_stop(const void *source, struct reading *reading)
{
	const struct mu_tracer_stop *stop = source;
	const struct mu_tracer_stop_request *answer = &stop->request;
	enum mu_status status = MU_OK;
	size_t i;

	for (i = 0; i < answer->num_threads && status == MU_OK; i++)
		status = add_stopped(answer, i, reading);
	for (i = 0; i < answer->num_stacks && status == MU_OK; i++)
		if (!mu_words_add(reading->held, answer->stacks[i]))
			status = no_memory(reading->why);
	return status;
}

/* A thread that has not ended: /proc shows nothing for a zombie leader. */
static pid_t
live_thread(const struct mu_snapshot *snap)
{
	return snap->num_threads > 0 ? snap->threads[0].tid : snap->pid;
}

static uintptr_t
find_ended_frames(const struct mu_snapshot *snap)
{
	size_t i;

	for (i = 0; i < snap->num_threads; i++)
		if (snap->threads[i].tid == snap->pid)
			return 0;
	return mu_proc_ended(mu_proc_state(snap->pid, snap->pid))
	    ? mu_proc_start_stack(live_thread(snap))
	    : 0;
}

static enum mu_status
read_kernel_values(const struct mu_kernel_files *files, pid_t tid,
    struct mu_words *words, struct mu_why *why)
{
	struct mu_kernel_files own;
	enum mu_status status;

	if (files != NULL)
		return mu_kernel_values_read(files, tid, words, why);
	mu_kernel_files_open(&own, tid);
	status = mu_kernel_values_read(&own, tid, words, why);
	mu_kernel_files_close(&own);
	return status;
}

static enum mu_status
take(struct mu_snapshot *snap, pid_t pid, size_t max,
    enum mu_status (*read)(const void *source, struct reading *reading),
    const void *source, const struct mu_kernel_files *files,
    struct mu_arena *arena, struct mu_why *why)
{
	struct mu_snapshot new = *snap;
	struct mu_words words = { .arena = arena, .with_regnos = true };
	struct mu_words held = { .arena = arena };
	struct reading reading = {
		.words = &words,
		.held = &held,
		.why = why,
	};
	enum mu_status status;
	size_t i;

	new.pid = pid;
	new.threads = mu_arena_alloc(
	    arena, snap->num_threads + max, sizeof(*new.threads));
	if (!start_arrays(snap, new.threads, &words))
		return mu_why(why, MU_ERR_NO_MEMORY,
		    "no memory for %zu threads", snap->num_threads + max);
	for (i = 0; i < snap->num_kernel_values; i++)
		if (!mu_words_add(&held, snap->kernel_values[i]))
			return mu_why(why, MU_ERR_NO_MEMORY,
			    "no memory for words of the kernel");
	reading.threads = new.threads;
	reading.count = new.num_threads;
	status = read(source, &reading);
	new.num_threads = reading.count;
	if (status == MU_OK)
		status =
		    read_kernel_values(files, live_thread(&new), &held, why);
	if (status != MU_OK)
		return status;
	new.ended_frames = find_ended_frames(&new);
	new.values = words.words;
	new.regnos = words.regnos;
	new.num_values = words.count;
	new.kernel_values = held.words;
	new.num_kernel_values = held.count;
	*snap = new;
	return MU_OK;
}

enum mu_status
mu_snapshot_live(struct mu_snapshot *snap, const struct mu_threads *threads,
    const struct mu_kernel_files *files, struct mu_arena *arena,
    struct mu_why *why)
{
	return take(snap, threads->pid, threads->count + count_asleep(threads),
	    read_stopped, threads, files, arena, why);
}

enum mu_status
mu_snapshot_signal_stop(struct mu_snapshot *snap,
    const struct mu_signal_stop *stop, const struct mu_kernel_files *files,
    struct mu_arena *arena, struct mu_why *why)
{
	return take(snap, stop->pid, stop->count, read_signal_stop, stop, files,
	    arena, why);
}

enum mu_status
mu_snapshot_tracer_stop(struct mu_snapshot *snap,
    const struct mu_tracer_stop *stop, const struct mu_kernel_files *files,
    struct mu_arena *arena, struct mu_why *why)
{
	return take(snap, stop->pid, stop->request.num_threads,
	    read_tracer_stop, stop, files, arena, why);
}

enum mu_status
mu_snapshot_mappings(
    struct mu_snapshot *snap, struct mu_arena *arena, struct mu_why *why)
{
	return mu_mappings_read(live_thread(snap), &snap->mappings,
	    &snap->num_mappings, arena, why);
}
