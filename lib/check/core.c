/*
 * The check of a core file: see check.h.
 *
 * A second look is impossible: if it would be needed, the answer is partial.
 */
#include <bsd/string.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "heapwalk/subject/dynamic_symbols.h"
#include "lib/check/naming.h"
#include "lib/check/outside.h"
#include "ptrace/core/snapshot.h"
#include "ptrace/live/alternate_stacks.h"

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

/* Leaked blocks that are large enough for an alternate signal stack. */
struct large_lost {
	size_t count;
	struct mu_range largest;
};

static bool
take_large(void *ctx, const struct mu_block *block)
{
	struct large_lost *lost = ctx;

	if (mu_range_size(block->range) < MU_ALTERNATE_STACK_MIN)
		return true;
	if (mu_range_size(block->range) > mu_range_size(lost->largest))
		lost->largest = block->range;
	lost->count++;
	return true;
}

/*
 * Only the kernel knows the address of an alternate signal stack, and no note
 * has it. If a thread runs on it, its stack pointer shows that; if a thread has
 * left it for another one, the signal frame does (uc_stack).
 */
static enum mu_status
doubt_stacks(const struct mu_check_look *look, struct mu_why *why)
{
	struct large_lost lost = { .count = 0 };

	mu_blocks_each_unmarked(
	    &look->analysis.search.heap.blocks, take_large, &lost);
	if (lost.count == 0 || !mu_may_import(look->snap, "sigaltstack"))
		return MU_OK;
	return mu_why(why, MU_PARTIAL,
	    "%zu of them can be alternate signal stacks, having %d bytes or"
	    " more (the largest: %zu at %lx): the program may call"
	    " sigaltstack(), and a core does not say what it set",
	    lost.count, MU_ALTERNATE_STACK_MIN, mu_range_size(lost.largest),
	    (unsigned long)lost.largest.begin);
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

static void
note(void *subject, struct mu_check_look *look)
{
	struct reading *reading = subject;

	if (look->status == MU_OK && look->analysis.search.leaks.num_leaks > 0)
		look->status =
		    mu_snapshot_core_doubt(&reading->core, &look->why);
	if (look->status == MU_OK)
		look->status = doubt_stacks(look, &look->why);
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
