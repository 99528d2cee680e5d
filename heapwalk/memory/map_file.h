/*
 * The file behind a mapping of another process, if it lives in memory only: its
 * data can be read without touching a page of the process.
 *
 * /proc/PID/map_files takes CAP_SYS_ADMIN or CAP_CHECKPOINT_RESTORE of the
 * first user namespace.
 */
#ifndef HEAPWALK_MEMORY_MAP_FILE_H
#define HEAPWALK_MEMORY_MAP_FILE_H

#include "heapwalk/subject/snapshot.h"
#include "heapwalk/subject/tmpfs.h"

/*
 * A descriptor of the file of MAPPING, a whole mapping of process tmpfs->pid,
 * or -1. No other file than one of memory is opened: a server may answer for
 * that, or never.
 */
int mu_map_file_open(const struct mu_mapping *mapping, struct mu_tmpfs *tmpfs);

/*
 * The first part of RANGE, which lies in MAPPING, that FILE has data for;
 * whole pages of PAGE_SIZE. False: none. What is swapped out counts, holes do
 * not.
 */
bool mu_map_file_next(int file, const struct mu_mapping *mapping,
    size_t page_size, struct mu_range range, struct mu_range *part);

#endif
