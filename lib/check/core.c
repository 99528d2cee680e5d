/*
 * The check of a core file: see check.h.
 *
 * A second look is impossible: if it would be needed, the answer is partial.
 */
#include <bsd/string.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/check/doubts.h"
#include "lib/check/naming.h"
#include "lib/check/outside.h"
#include "ptrace/core/snapshot.h"

#define ARENA_LIMIT ((size_t)4 << 30) /* for what describes the core */

struct reading {
	const struct mu_check *check;
	struct mu_snapshot_core core;
	struct mu_snapshot snap;
	struct mu_arena arena;
	bool opened;
};

static void
unlock(void *ctx)
{
	struct reading *reading = ctx;

	mu_snapshot_core_unlock(&reading->core, &reading->snap);
}

static enum mu_status
take(void *subject, struct mu_check_look *look)
{
	struct reading *reading = subject;
	const struct mu_check *check = reading->check;
	const struct mu_core_paths paths = { check->exe, check->sysroot };
	enum mu_status status = mu_snapshot_core_open(&reading->snap,
	    &reading->core, check->core, &paths, &reading->arena, &look->why);

	reading->opened = mu_status_usable(status);
	reading->snap.unfrozen = reading->snap.only_moment = true;
	reading->snap.reach = check->reach;
	look->snap = &reading->snap;
	return status;
}

/* Our cores say what the look that wrote them may have missed. */
static enum mu_status
judge_doubt(const struct mu_core_file *file, struct mu_why *why)
{
	const struct mu_core_note *note = file->notes;
	const struct mu_core_note *end = note + file->num_notes;
	struct mu_why doubt = { .text = "" };

	for (; note < end; note++)
		if (note->type == MU_NT_DOUBT && note->size == sizeof(doubt))
			memcpy(&doubt, note->data, sizeof(doubt));
	if (!mu_why_check(&doubt) || doubt.text[0] == '\0')
		return MU_OK;
	*why = doubt;
	mu_why_drop_cure(why); /* it is one for the look */
	return MU_PARTIAL;
}

/*
 * Only the kernel knows the address of an alternate signal stack, and it puts
 * none into a note; ours has them if they were asked for. If a thread runs on
 * it, its stack pointer shows that; if a thread has left it for another one,
 * the signal frame does (uc_stack).
 */
static void
note(void *subject, struct mu_check_look *look)
{
	struct reading *reading = subject;

	if (look->status == MU_OK && look->analysis.search.leaks.num_leaks > 0)
		look->status =
		    mu_snapshot_core_doubt(&reading->core, &look->why);
	if (look->status == MU_OK && look->analysis.search.leaks.num_leaks > 0)
		look->status = judge_doubt(&reading->core.file, &look->why);
	if (look->status == MU_OK && !reading->snap.knows_stacks)
		look->status = mu_doubt_stacks(
		    look, "a core does not say what it set", &look->why);
}

static bool
read_core(void *ctx, uintptr_t address, void *buffer, size_t size)
{
	const struct reading *reading = ctx;
	const void *view = mu_snapshot_view(&reading->snap, address, size);

	if (view != NULL)
		memcpy(buffer, view, size);
	return view != NULL;
}

/*
 * The core's owner may have written the file: read names with the rights of
 * that user.
 */
static void
source_of(
    void *subject, struct mu_symbols_source *source, struct mu_rights *rights)
{
	struct reading *reading = subject;
	const struct mu_check *check = reading->check;

	*rights = mu_rights_of_file(check->core);
	*source = (struct mu_symbols_source) {
		.exe = check->exe,
		.sysroot = check->sysroot,
		.debug = check->debug,
		.program = reading->core.process.headers,
		.read = read_core,
		.ctx = reading,
	};
}

static void
name_addresses(void *subject, struct mu_report *report, uint64_t deadline_ns)
{
	struct mu_symbols_source source;
	struct mu_rights rights;

	source_of(subject, &source, &rights);
	mu_naming_ask(report, &source, &rights, deadline_ns);
}

/* Use the whole path, if the program's first page is in the core. */
static void
name_program(const struct reading *reading, struct mu_report *report)
{
	const struct mu_core_process *process = &reading->core.process;
	const struct mu_mapping *mapping = process->headers == 0
	    ? NULL
	    : mu_snapshot_mapping(&reading->snap, process->headers);
	const char *name = mapping != NULL && mapping->name[0] == '/'
	    ? mapping->name
	    : process->program;

	strlcpy(report->program, name, sizeof(report->program));
}

static void
describe(const void *subject, struct mu_report *report)
{
	const struct reading *reading = subject;

	report->stop = "core";
	report->pid = reading->core.process.pid;
	report->info.num_threads = reading->snap.num_threads;
	if (reading->opened)
		name_program(reading, report);
}

enum mu_status
mu_check_core(const struct mu_check *check, struct mu_report *report)
{
	static const struct mu_subject_ops ops = {
		.take = take,
		.unlock = unlock,
		.note = note,
		.describe = describe,
		.source = source_of,
		.name = name_addresses,
	};
	struct reading *reading = calloc(1, sizeof(*reading));
	enum mu_status status;

	if (reading == NULL) {
		*report = (struct mu_report) { .stop = "core" };
		return MU_ERR_NO_MEMORY;
	}
	reading->check = check;
	mu_arena_open(&reading->arena, ARENA_LIMIT);
	status = mu_check_run(check, reading, &ops, report);
	mu_snapshot_core_close(&reading->core);
	mu_arena_close(&reading->arena);
	free(reading);
	return status;
}
