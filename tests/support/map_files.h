/*
 * May this process open files by their mappings, in /proc/PID/map_files?
 */
#ifndef TESTS_SUPPORT_MAP_FILES_H
#define TESTS_SUPPORT_MAP_FILES_H

#include <stdbool.h>

/* Takes CAP_SYS_ADMIN of the first user namespace, or less since 5.9. */
bool has_map_files(void);

#endif
