/*
 * /proc/PID/maps as an array.
 *
 * Runs in: any.
 */
#ifndef PTRACE_LIVE_MAPPINGS_H
#define PTRACE_LIVE_MAPPINGS_H

#include "heapwalk/subject/snapshot.h"
#include "mu/arena.h"
#include "mu/status.h"

/*
 * Parse TEXT, LENGTH bytes of a maps file. Pure. Names are copied into ARENA;
 * the kernel's only escape here, \012, becomes a newline again. MU_ERR_NO_PROC:
 * a line is malformed, the last line has no newline (the text was cut), or
 * ranges overlap or are not ascending. MAPPINGS and COUNT are set only on
 * success.
 */
enum mu_status mu_mappings_parse(const char *text, size_t length,
    struct mu_mapping **mappings, size_t *count, struct mu_arena *arena,
    struct mu_why *why);

/*
 * Read and parse /proc/PID/maps. The kernel returns about a page per read and
 * never splits a line. The target should be stopped or be ourselves: while it
 * runs, ranges may merge between two reads and then overlap, so the reading is
 * repeated a few times. PID may be any thread of the process, but not a leader
 * that has ended: a zombie has no mappings. MU_ERR_TARGET_GONE: there are no
 * mappings or no such process.
 */
enum mu_status mu_mappings_read(pid_t pid, struct mu_mapping **mappings,
    size_t *count, struct mu_arena *arena, struct mu_why *why);

/* The same until UNTIL_NS, for a stop: 65,000 take 0.3 s on a busy machine. */
enum mu_status mu_mappings_read_until(pid_t pid, uint64_t until_ns,
    struct mu_mapping **mappings, size_t *count, struct mu_arena *arena,
    struct mu_why *why);

/*
 * The number of pages that the process of thread TID has mapped; 0 if not
 * known.
 */
uint64_t mu_mappings_pages(pid_t tid);

#endif
