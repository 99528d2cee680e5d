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
 * Parse the TEXT of a maps file, LENGTH bytes. A pure function. Names are
 * copied into ARENA; \012, the one escape that the kernel writes here, is a
 * newline again. A malformed line is an error (MU_ERR_NO_PROC), as are a last
 * line without its newline (the text was cut) and ranges that overlap or
 * fall. MAPPINGS and COUNT are set only on success.
 */
enum mu_status mu_mappings_parse(const char *text, size_t length,
    struct mu_mapping **mappings, size_t *count, struct mu_arena *arena,
    struct mu_why *why);

/*
 * Read and parse /proc/PID/maps. The kernel hands out about a page a read and
 * keeps each line whole; the target should be stopped, or be ourselves. If it
 * runs, ranges may merge between two reads and then overlap: the reading is
 * repeated a few times. PID may be any of the process's threads, and must not
 * be a leader that has ended: a zombie has no mappings. MU_ERR_TARGET_GONE: it
 * has none, or is not there.
 */
enum mu_status mu_mappings_read(pid_t pid, struct mu_mapping **mappings,
    size_t *count, struct mu_arena *arena, struct mu_why *why);

/* How many pages the process of thread TID has mapped; 0: not known. */
uint64_t mu_mappings_pages(pid_t tid);

#endif
