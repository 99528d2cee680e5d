/* The process cannot be checked a second time, as with a core file. */
#include "lib/command/check_end.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <unistd.h>

#include "heapwalk/heaps/glibc/libc.h"
#include "heapwalk/memory/forked.h"
#include "heapwalk/memory/remote_memory.h"
#include "heapwalk/recorded/recorded.h"
#include "lib/check/doubts.h"
#include "lib/check/may_be_in_malloc.h"
#include "lib/check/naming.h"
#include "lib/check/outside.h"
#include "lib/command/clearing.h"
#include "lib/command/exit_frame.h"
#include "lib/command/reaped.h"
#include "lib/report/backtrace.h"
#include "mu/arch/registers.h"
#include "mu/sys.h"
#include "ptrace/live/mappings.h"
#include "ptrace/live/proc.h"
#include "ptrace/live/sharer.h"
#include "ptrace/live/snapshot.h"

#define ARENA_LIMIT ((size_t)1 << 30)
#define NAMES_NS (20 * MU_NS_PER_SEC) /* half of it for the files */

struct ending {
	const struct mu_check *check;
	const struct mu_threads *stopped;
	size_t missed; /* threads that did not stop */
	struct mu_known_functions *known;
	struct mu_snapshot snap;
	struct mu_remote_memory remote;
	struct mu_arena arena;
	int memory, pagemap;
	struct mu_reaped reaped;
	bool in_malloc; /* a thread was in malloc at the end */
};

static void
unlock(void *ctx)
{
	struct mu_snapshot *snap = &((struct ending *)ctx)->snap;

	mu_remote_memory_unlock(
	    &snap->memory, snap->mappings, snap->num_mappings);
}

static int
open_file(pid_t tid, const char *name)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)tid, name);
	return open(path, O_RDONLY | O_CLOEXEC);
}

static enum mu_status
open_memory(struct ending *ending, struct mu_why *why)
{
	struct mu_snapshot *snap = &ending->snap;
	pid_t tid = ending->stopped->tracees[0].tid;
	struct mu_remote_source source = {
		.pid = tid,
		.page_size = (size_t)sysconf(_SC_PAGESIZE),
		.window = MU_REMOTE_WINDOW,
	};
	char program[PATH_MAX];

	mu_proc_program(tid, program, sizeof(program));
	ending->memory = open_file(tid, "mem");
	ending->pagemap = open_file(tid, "pagemap");
	if (ending->memory < 0 || ending->pagemap < 0)
		return mu_why(why, mu_status_from_errno(errno),
		    "the memory of process %d may not be read (%s)",
		    (int)ending->check->pid, strerror(errno));
	source.memory = ending->memory;
	source.pagemap = source.shared_pagemap = ending->pagemap;
	mu_reaped_open(&ending->reaped, snap->mappings, snap->num_mappings,
	    source.page_size, ending->pagemap, program);
	return mu_remote_memory_open(&snap->memory, &ending->remote, &source,
	    snap->mappings, snap->num_mappings,
	    mu_analysis_limit(ending->check, NULL, 3), &ending->arena, why);
}

static enum mu_status
take_image(struct ending *ending, struct mu_why *why)
{
	struct mu_snapshot *snap = &ending->snap;
	enum mu_status status;

	status =
	    mu_snapshot_live(snap, ending->stopped, NULL, &ending->arena, why);
	if (status == MU_OK)
		status = mu_snapshot_mappings(snap, &ending->arena, why);
	if (status == MU_OK)
		status = open_memory(ending, why);
	return status;
}

/* SIGKILL ends stops, and memory that is being freed reads as zeros. */
static bool
still_there(const struct mu_threads *stopped)
{
	struct mu_tracee tracee;
	size_t i;

	for (i = 0; i < stopped->count; i++) {
		tracee = stopped->tracees[i];
		if (!mu_tracee_confirm(&tracee, 0))
			return false;
	}
	return true;
}

/* In libc, but not in memset(). */
static bool
may_be_in_libc_malloc(const struct mu_snapshot *snap, pid_t tid)
{
	uintptr_t general[MU_PRSTATUS_WORDS] = { 0 };
	struct iovec set = { general, sizeof(general) };
	const struct mu_mapping *mapping;

	if (!mu_libc_is_mapped(snap) ||
	    mu_sys_ptrace(
		PTRACE_GETREGSET, tid, NT_PRSTATUS, (uintptr_t)&set) != 0)
		return true;
	mapping = mu_snapshot_mapping(snap, general[MU_PRSTATUS_PC]);
	return mapping != NULL && mu_libc_is_named(mapping) &&
	    !mu_range_has(mu_clearing_in(mapping), general[MU_PRSTATUS_PC]);
}

/*
 * True if a thread was in malloc at the end. Malloc is libc's own code and
 * calls no other.
 */
static bool
was_in_malloc(const struct mu_snapshot *snap)
{
	struct mu_snapshot one = *snap;
	size_t i;

	for (i = 0; i < snap->num_threads; i++) {
		one.threads = &snap->threads[i];
		one.num_threads = 1;
		if (mu_may_be_in_malloc(&one) &&
		    may_be_in_libc_malloc(snap, one.threads->tid))
			return true;
	}
	return false;
}

static enum mu_status
take(void *subject, struct mu_check_look *look)
{
	struct ending *ending = subject;
	enum mu_status status = take_image(ending, &look->why);

	if (status != MU_OK)
		return status;
	ending->snap.unfrozen = ending->snap.only_moment = true;
	ending->snap.reach = look->check->reach;
	ending->remote.workers = &look->analysis.threads.workers;
	ending->in_malloc = was_in_malloc(&ending->snap);
	mu_exit_frame_find(&ending->snap, ending->known, &ending->arena);
	look->snap = &ending->snap;
	return MU_OK;
}

static void
note(void *subject, struct mu_check_look *look)
{
	struct ending *ending = subject;
	struct mu_moved_source source = {
		.tid = ending->remote.source.pid,
		.memory = ending->memory,
	};

	if (!still_there(ending->stopped))
		look->status = mu_why(&look->why, MU_ERR_TARGET_GONE,
		    "it was killed while it was looked at");
	else if (mu_is_reaped(&ending->reaped))
		look->status = mu_why(&look->why, MU_ERR_NO_MEMORY,
		    "the kernel freed the memory of the ending process, as its"
		    " cgroup or the machine has none left" MU_CURE
		    "allow it more, or run memunreachable outside its cgroup");
	else if (look->status != MU_OK ||
	    look->analysis.search.leaks.num_leaks == 0)
		return;
	else if (ending->missed > 0)
		look->status = mu_why(&look->why, MU_PARTIAL,
		    "%zu threads did not stop at its end: what only they refer"
		    " to looks lost",
		    ending->missed);
	else if (ending->in_malloc)
		look->status = mu_why(&look->why, MU_PARTIAL,
		    "a thread was ended in the middle of libc: some of these may"
		    " have been held by malloc at that moment");
	else
		look->status =
		    mu_doubt_untouched(ending->remote.unasked, &look->why);
	if (look->status == MU_OK)
		look->status = mu_doubt_moved(look, &source, &look->why);
	if (look->status == MU_OK)
		look->status =
		    mu_sharer_note(ending->check->pid, 0, &look->why);
	if (look->status == MU_OK)
		look->status = mu_forked_note_missing(
		    ending->stopped->tracees[0].tid, &look->why);
	if (look->status == MU_OK)
		look->status = mu_doubt_stacks(look,
		    "a process cannot be asked at its end what it set",
		    &look->why);
}

static void
open_ending(struct ending *ending, const struct mu_check *check,
    const struct mu_threads *stopped)
{
	*ending = (struct ending) {
		.check = check,
		.stopped = stopped,
		.memory = -1,
		.pagemap = -1,
	};
	mu_arena_open(&ending->arena, ARENA_LIMIT);
}

static void
close_ending(struct ending *ending)
{
	mu_remote_memory_close(&ending->snap.memory);
	mu_arena_close(&ending->arena);
	if (ending->memory >= 0)
		close(ending->memory);
	if (ending->pagemap >= 0)
		close(ending->pagemap);
}

/* SCRIPTS: with frames of interpreted functions. */
static bool
has_stacks(const struct mu_report *answer, bool scripts)
{
	struct mu_entries_at at;
	const struct Leak *leak;
	size_t first;

	mu_entries_open(&at, &answer->entries);
	while ((leak = mu_entries_next(&at)) != NULL) {
		first = scripts ? mu_backtrace_script(&leak->backtrace) : 0;
		if (first < mu_backtrace_count(&leak->backtrace))
			return true;
	}
	return false;
}

/* Read only what names frames, which is ENDING's or ARENA's. */
static void
find_recorder(struct mu_recorder *recorder, struct ending *ending, bool scripts,
    struct mu_arena *arena)
{
	uintptr_t place = 0;

	if (take_image(ending, NULL) == MU_OK)
		place = mu_recorded_find(&ending->snap);
	if (place != 0)
		mu_recorder_open_names(
		    recorder, &ending->snap, place, scripts, arena);
}

static void
describe(const void *subject, struct mu_report *report)
{
	const struct ending *ending = subject;

	report->pid = ending->check->pid;
	report->stop = "exit";
	report->info.num_threads = ending->snap.num_threads;
	mu_proc_program(ending->stopped->tracees[0].tid, report->program,
	    sizeof(report->program));
}

static void
ask_names(const struct mu_check *check, pid_t tid, struct mu_report *report)
{
	struct mu_symbols_source source = { .pid = tid, .debug = check->debug };
	struct mu_rights rights = mu_rights_of_process(tid);

	if (report->info.num_reported > 0)
		mu_naming_ask(
		    report, &source, &rights, mu_sys_now_ns() + NAMES_NS);
}

static void
source_of(
    void *subject, struct mu_symbols_source *source, struct mu_rights *rights)
{
	const struct ending *ending = subject;
	pid_t tid = ending->stopped->tracees[0].tid;

	*source = (struct mu_symbols_source) {
		.pid = tid,
		.debug = ending->check->debug,
	};
	*rights = mu_rights_of_process(tid);
}

static void
name_addresses(void *subject, struct mu_report *report, uint64_t deadline_ns)
{
	const struct ending *ending = subject;

	(void)deadline_ns;
	ask_names(ending->check, ending->stopped->tracees[0].tid, report);
}

void
mu_check_end_name(const struct mu_check *check,
    const struct mu_threads *stopped, struct mu_report *answer)
{
	struct mu_recorder recorder = { .num_spans = 0 };
	pid_t tid = stopped->tracees[0].tid;
	struct mu_mapping *mappings;
	struct ending ending;
	size_t num_mappings;
	struct mu_arena arena;

	mu_arena_open(&arena, ARENA_LIMIT);
	open_ending(&ending, check, stopped);
	if (has_stacks(answer, false))
		find_recorder(
		    &recorder, &ending, has_stacks(answer, true), &arena);
	mu_proc_program(tid, answer->program, sizeof(answer->program));
	if (answer->info.num_reported > 0 &&
	    mu_mappings_read(tid, &mappings, &num_mappings, &arena, NULL) ==
		MU_OK) {
		mu_naming_open(answer, mappings, num_mappings, &recorder);
		ask_names(check, tid, answer);
	}
	close_ending(&ending);
	mu_arena_close(&arena);
}

enum mu_status
mu_check_end(const struct mu_check *check, const struct mu_threads *stopped,
    size_t missed, struct mu_known_functions *known, struct mu_report *answer)
{
	static const struct mu_subject_ops ops = {
		.take = take,
		.unlock = unlock,
		.note = note,
		.describe = describe,
		.source = source_of,
		.name = name_addresses,
	};
	struct ending ending;
	enum mu_status status;

	open_ending(&ending, check, stopped);
	ending.missed = missed;
	ending.known = known;
	status = mu_check_run(check, &ending, &ops, answer);
	close_ending(&ending);
	return status;
}
