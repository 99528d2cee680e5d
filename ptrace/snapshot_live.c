/*
 * Stopped threads become a snapshot: see snapshot_live.h.
 *
 * Runs in: collector. Uses no malloc, no errno, no libc lock.
 */
#include "ptrace/snapshot_live.h"

#include <string.h>

#include "ptrace/kernel_values.h"
#include "ptrace/mappings.h"
#include "ptrace/registers.h"

/* What SNAP has is copied to the front of THREADS and WORDS. */
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
	if (snap->num_values > 0 && snap->places != NULL)
		memcpy(words->places, snap->places,
		    snap->num_values * sizeof(*words->places));
	words->count = snap->num_values;
	return true;
}

/* Every stopped thread's registers; COUNT grows by the threads read. */
static enum mu_status
read_threads(const struct mu_threads *stopped, struct mu_thread *threads,
    size_t *count, struct mu_words *words, struct mu_why *why)
{
	enum mu_status status = MU_OK;
	size_t i;

	for (i = 0; i < stopped->count && status == MU_OK; i++) {
		if (!mu_tracee_stopped(&stopped->tracees[i]))
			continue;
		status = mu_registers_read(
		    &threads[*count], stopped->tracees[i].tid, words, why);
		++*count;
	}
	return status;
}

/* A thread that is no zombie: a leader may be one, and shows nothing then. */
static pid_t
live_thread(const struct mu_snapshot *snap)
{
	return snap->num_threads > 0 ? snap->threads[0].tid : snap->pid;
}

enum mu_status
mu_snapshot_live(struct mu_snapshot *snap, const struct mu_threads *threads,
    struct mu_arena *arena, struct mu_why *why)
{
	struct mu_snapshot new = *snap;
	struct mu_words words = { .arena = arena, .placed = true };
	struct mu_words held = { .arena = arena };
	enum mu_status status;

	new.pid = threads->pid;
	new.threads = mu_arena_alloc(
	    arena, snap->num_threads + threads->count, sizeof(*new.threads));
	if (!start_arrays(snap, new.threads, &words))
		return mu_why(why, MU_ERR_NO_MEMORY,
		    "no memory for %zu threads",
		    snap->num_threads + threads->count);
	status =
	    read_threads(threads, new.threads, &new.num_threads, &words, why);
	if (status == MU_OK)
		status = mu_mappings_read(live_thread(&new), &new.mappings,
		    &new.num_mappings, arena, why);
	if (status == MU_OK)
		status = mu_kernel_values_read(live_thread(&new), &held, why);
	if (status != MU_OK)
		return status;
	new.values = words.words;
	new.places = words.places;
	new.num_values = words.count;
	new.kernel_values = held.words;
	new.num_kernel_values = held.count;
	*snap = new;
	return MU_OK;
}
