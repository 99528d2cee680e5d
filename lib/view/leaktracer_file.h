/*
 * LeakTracer's report, leaks.out:
 *
 *	# LeakTracer report diff_utc_mono=1762345678.123456
 *	# module 55d0c8a00000-55d0c8a01000 1000 55d0c89ff000 8c9a...
 * /usr/bin/served leak, time=000123.456789, stack=0x55d0c8a00123
 * 0x7f1c2a5d5d0a, size=24, data=.....
 *
 * The original has no lines of modules, and cannot tell them.
 *
 * Runs in: the command.
 */
#ifndef LIB_VIEW_LEAKTRACER_FILE_H
#define LIB_VIEW_LEAKTRACER_FILE_H

#include "lib/view/addresses.h"
#include "lib/view/module_table.h"
#include "lib/view/records.h"
#include "lib/view/sorter.h"
#include "mu/arena.h"
#include "mu/status.h"

struct mu_leaktracer {
	size_t num_leaks; /* blocks */
	size_t num_cut;   /* of these, with more than MU_RECORD_FRAMES frames */
	struct mu_addresses addresses; /* of calls, not return addresses */
	struct mu_sorter leaks;        /* in the order of the file */
	struct mu_module_table modules;
	bool has_title;
	size_t num_lines, bad_lines, first_bad; /* as for a heap dump */
	bool cut;
	bool no_memory;
	struct mu_arena strings;
};

/* Parsed in pieces, as a heap dump is. Release it in any case. */
void mu_leaktracer_begin(struct mu_leaktracer *file);

/* As mu_heap_dump_take(). */
size_t mu_leaktracer_take(
    struct mu_leaktracer *file, char *text, size_t length, bool ended);

/*
 * Call at the end. MU_OK; MU_PARTIAL: something is missing, as WHY says;
 * MU_ERR_ARGUMENT: it is not a report of LeakTracer; MU_ERR_NO_MEMORY. The
 * module table is not sealed yet.
 */
enum mu_status mu_leaktracer_end(
    struct mu_leaktracer *file, struct mu_why *why);

/*
 * The next block, in the order of the file. False: there is no more; or it was
 * not read, as mu_sorter_end() says. Begin by mu_sorter_begin().
 */
bool mu_leaktracer_next(struct mu_leaktracer *file, struct mu_record *record);

/* Accepts one that is zero. */
void mu_leaktracer_release(struct mu_leaktracer *file);

#endif
