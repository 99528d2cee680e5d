/*
 * The check of a core file: see check.h.
 *
 * One moment of a process that cannot be asked again: what a second look would
 * have told apart makes the answer partial.
 */
#include <bsd/string.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "heapwalk/subject/dynamic_symbols.h"
#include "lib/check/judgement.h"
#include "lib/check/naming.h"
#include "mu/sys.h"
#include "ptrace/core/snapshot.h"
#include "ptrace/live/alternate_stacks.h"

#define ARENA_LIMIT ((size_t)4 << 30) /* for what describes the core */

struct reading {
	const struct mu_check *check;
	struct mu_judgement judgement;
	struct mu_snapshot_core core;
	struct mu_snapshot snap;
	struct mu_arena arena;
	enum mu_status status;
	struct mu_why why;
};

static void
unlock(void *ctx)
{
	struct reading *reading = ctx;

	mu_snapshot_core_unlock(&reading->core, &reading->snap);
}

/* Blocks that are lost and large enough for an alternate signal stack. */
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
 * The kernel alone has the address of an alternate signal stack, and no note
 * has it. A thread that runs on its own is found there by its stack pointer,
 * and one that has left it for another by the frame of the signal (uc_stack).
 */
static enum mu_status
doubt_stacks(const struct reading *reading, struct mu_why *why)
{
	struct large_lost lost = { .count = 0 };

	mu_blocks_each_unmarked(
	    &reading->judgement.search.heap.blocks, take_large, &lost);
	if (lost.count == 0 || !mu_may_import(&reading->snap, "sigaltstack"))
		return MU_OK;
	return mu_why(why, MU_PARTIAL,
	    "%zu of them can be alternate signal stacks, having %d bytes or"
	    " more (the largest: %zu at %lx): the program may call"
	    " sigaltstack(), and a core does not tell what it set",
	    lost.count, MU_ALTERNATE_STACK_MIN, mu_range_size(lost.largest),
	    (unsigned long)lost.largest.begin);
}

/* Report first what was missing from the start, then what was found later. */
static void
judge(struct reading *reading, uint64_t begin_ns)
{
	const struct mu_search *search = &reading->judgement.search;
	enum mu_status opened = reading->status;

	reading->snap.unfrozen = reading->snap.only_moment = true;
	reading->snap.reach = reading->check->reach;
	reading->judgement.unlock = unlock;
	reading->judgement.ctx = reading;
	mu_judgement_run(&reading->judgement, &reading->snap, begin_ns,
	    begin_ns + reading->check->timeout_ns);
	if (search->status == MU_OK && opened == MU_PARTIAL)
		return;
	reading->status = search->status;
	reading->why = search->why;
	if (search->status == MU_OK && search->leaks.num_leaks > 0)
		reading->status =
		    mu_snapshot_core_doubt(&reading->core, &reading->why);
	if (reading->status == MU_OK)
		reading->status = doubt_stacks(reading, &reading->why);
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
 * Whose file it is may have written it: the names are read with the rights of
 * that user.
 */
static void
name_addresses(
    struct reading *reading, struct mu_report *answer, uint64_t deadline_ns)
{
	const struct mu_check *check = reading->check;
	struct mu_rights rights = mu_rights_of_file(check->core);
	struct mu_symbols_source source = {
		.exe = check->exe,
		.sysroot = check->sysroot,
		.program = reading->core.process.headers,
		.read = read_core,
		.ctx = reading,
	};

	if (check->progress != NULL)
		check->progress(check->progress_ctx, MU_CHECK_STEP_SYMBOLS);
	mu_naming_ask(answer, &source, &rights, deadline_ns);
}

static void
close_core(struct reading *reading)
{
	mu_snapshot_core_close(&reading->core);
	mu_arena_close(&reading->arena);
	free(reading);
}

/* The whole path, if its first page says where it was mapped. */
static void
name_program(const struct reading *reading, struct mu_report *answer)
{
	const struct mu_core_process *process = &reading->core.process;
	const struct mu_mapping *mapping = process->headers == 0
	    ? NULL
	    : mu_snapshot_mapping(&reading->snap, process->headers);
	const char *name = mapping != NULL && mapping->name[0] == '/'
	    ? mapping->name
	    : process->program;

	strlcpy(answer->program, name, sizeof(answer->program));
}

enum mu_status
mu_check_core(const struct mu_check *check, struct mu_report *answer)
{
	const struct mu_core_paths paths = { check->exe, check->sysroot };
	uint64_t begin_ns = mu_sys_now_ns();
	struct reading *reading = calloc(1, sizeof(*reading));
	enum mu_status status;

	memset(answer, 0, sizeof(*answer));
	answer->stop = "core";
	if (reading == NULL)
		return MU_ERR_NO_MEMORY;
	reading->check = check;
	mu_arena_open(&reading->arena, ARENA_LIMIT);
	mu_judgement_open(&reading->judgement, check);
	reading->status = mu_snapshot_core_open(&reading->snap, &reading->core,
	    check->core, &paths, &reading->arena, &reading->why);
	answer->pid = reading->core.process.pid;
	if (reading->status == MU_OK || reading->status == MU_PARTIAL) {
		name_program(reading, answer);
		judge(reading, begin_ns);
	}
	answer->info.num_threads = reading->snap.num_threads;
	answer->info.tries = 1;
	status = mu_judgement_tell(
	    &reading->judgement, reading->status, &reading->why, answer);
	answer->info.total_ns = mu_sys_now_ns() - begin_ns;
	if (status == MU_OK || status == MU_PARTIAL)
		mu_naming_open(answer, reading->snap.mappings,
		    reading->snap.num_mappings,
		    &reading->judgement.search.recorder);
	mu_judgement_close(&reading->judgement);
	if (status == MU_OK || status == MU_PARTIAL)
		name_addresses(reading, answer, begin_ns + check->timeout_ns);
	close_core(reading);
	return status;
}
