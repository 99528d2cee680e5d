/*
 * The file of another process's mapping, if it is in memory only: its data can
 * be read without touching pages of the process.
 *
 * /proc/PID/map_files needs CAP_SYS_ADMIN or CAP_CHECKPOINT_RESTORE in the
 * initial user namespace.
 *
 * Runs in: sweeper, keeper, the command.
 */
#ifndef HEAPWALK_MEMORY_MAP_FILE_H
#define HEAPWALK_MEMORY_MAP_FILE_H

#include "heapwalk/subject/snapshot.h"
#include "heapwalk/subject/tmpfs.h"

/*
 * Open the file of MAPPING, a whole mapping of process tmpfs->pid; -1 on
 * failure. Opens only files in memory: for others a server may have to answer,
 * and may never do so.
 */
int mu_map_file_open(const struct mu_mapping *mapping, struct mu_tmpfs *tmpfs);

/*
 * The first part of RANGE, which lies in MAPPING, for which FILE has data, in
 * whole pages of PAGE_SIZE. Returns false if there is none. Swapped pages
 * count, holes do not.
 */
bool mu_map_file_next(int file, const struct mu_mapping *mapping,
    size_t page_size, struct mu_range range, struct mu_range *part);

#endif
