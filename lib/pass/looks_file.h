/*
 * The file of option looks_path: each look of the program's own watch as a JSON
 * object a line, with the names of "memunreachable watch --format=json".
 *
 * Runs in: original.
 */
#ifndef LIB_PASS_LOOKS_FILE_H
#define LIB_PASS_LOOKS_FILE_H

struct MemunreachableLook;

/* Append LOOK. Does nothing without the option. */
void mu_looks_file_add(const struct MemunreachableLook *look);

#endif
