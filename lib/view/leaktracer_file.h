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
 * Pure.
 */
#ifndef LIB_VIEW_LEAKTRACER_FILE_H
#define LIB_VIEW_LEAKTRACER_FILE_H

#include "lib/view/module_table.h"
#include "lib/view/records.h"
#include "mu/status.h"

struct mu_leaktracer {
	/*
	 * One per block. Frames are addresses of calls, not return addresses.
	 */
	struct mu_records records;
	struct mu_module_table modules;
	bool has_title;
	size_t num_lines, bad_lines, first_bad; /* as for a heap dump */
	bool cut;
};

/*
 * Parse TEXT, LENGTH bytes and a 0, which is modified and must stay valid.
 * MU_OK; MU_PARTIAL: something is missing, as WHY says; MU_ERR_ARGUMENT: it is
 * not a report of LeakTracer; MU_ERR_NO_MEMORY. Release FILE in any case. The
 * module table is not sealed yet.
 */
enum mu_status mu_leaktracer_parse(
    struct mu_leaktracer *file, char *text, size_t length, struct mu_why *why);

/* Accepts one that is zero. */
void mu_leaktracer_release(struct mu_leaktracer *file);

#endif
