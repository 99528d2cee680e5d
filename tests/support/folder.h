/* A folder for the files of a test. */
#ifndef TESTS_SUPPORT_FOLDER_H
#define TESTS_SUPPORT_FOLDER_H

#include <stddef.h>
#include <sys/types.h>

#define FOLDER_SIZE 32

/* Make a new folder, and store its path in FOLDER. */
void folder_make(char folder[FOLDER_SIZE]);

/* Remove FOLDER with all that is in it. */
void folder_remove(const char *folder);

/* The beginning of the file at PATH, in TEXT; NULL if there is none. */
const char *folder_read(const char *path, char *text, size_t size);

/* Write the core of process PID to FOLDER/core.PID; there is a gcore. */
void folder_core(const char *folder, pid_t pid);

#endif
