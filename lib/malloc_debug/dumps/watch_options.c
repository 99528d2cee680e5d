/*
 * The signals of the options: SIGRTMAX-19 to -15, which are 45 to 49 as on
 * Android.
 *
 * Runs in: the original.
 */
#include "lib/malloc_debug/dumps/watch_options.h"

#include <signal.h>

#include "lib/malloc_debug/checks/unreachable_check.h"
#include "lib/malloc_debug/dumps/allocator_stats.h"
#include "lib/malloc_debug/dumps/heap_dump.h"
#include "lib/malloc_debug/dumps/journal.h"
#include "lib/malloc_debug/dumps/watch.h"
#include "lib/malloc_debug/shadow/stack_id.h"
#include "lib/malloc_debug/state/state.h"
#include "mu/sys.h"

/* Runs in the handler. Only the lowest bit of a bool is ever set. */
static void
toggle(void)
{
	__atomic_fetch_xor(
	    (unsigned char *)&recorder_capturing, 1, __ATOMIC_ACQ_REL);
	stack_id_choose();
}

struct row {
	int from_last; /* SIGRTMAX minus the signal */
	bool wanted;
	void (*job)(void);
	enum watch_how how;
	const char *hint;
};

enum { ROWS = 5 };

/* dladdr() and stdio need libc; everything else is written without it. */
static void
fill(struct row rows[ROWS])
{
	const struct debug_options *options = &recorder_options;
	/* Reports of damaged guards need libc for the names of frames. */
	bool named = options->backtrace_full || options->front_guard != 0 ||
	    options->rear_guard != 0;
	enum watch_how dump = named ? WATCH_THREAD : WATCH_BARE;

	rows[0] = (struct row) { 19, options->backtrace_on_signal, toggle,
		WATCH_AT_ONCE, "to enable backtracing" };
	rows[1] = (struct row) { 17, options->backtrace, heap_dump_on_signal,
		dump, "to dump the backtrace" };
	rows[2] = (struct row) { 18, options->record_allocs != 0, journal_dump,
		WATCH_BARE, "to dump the allocation records" };
	rows[3] = (struct row) { 16, options->check_unreachable_on_signal,
		unreachable_check, WATCH_THREAD,
		"to check for unreachable memory" };
	rows[4] = (struct row) { 15, options->stats_on_signal,
		allocator_stats_log, WATCH_THREAD, "to log allocator stats" };
}

void
watch_options_jobs(void)
{
	struct row rows[ROWS];
	size_t i;

	fill(rows);
	for (i = 0; i < ROWS; i++)
		if (rows[i].wanted)
			watch_signal_job(SIGRTMAX - rows[i].from_last,
			    rows[i].job, rows[i].how);
}

void
watch_options_hints(void)
{
	struct row rows[ROWS];
	size_t i;

	if (!recorder_options.verbose)
		return;
	fill(rows);
	for (i = 0; i < ROWS; i++)
		if (rows[i].wanted)
			recorder_say("%s: Run: 'kill -%d %d' %s.",
			    recorder_program(), SIGRTMAX - rows[i].from_last,
			    (int)mu_sys_getpid(), rows[i].hint);
}
