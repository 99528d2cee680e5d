/*
 * Bounded reading of the subject's memory, whose every byte is hostile.
 *
 * Runs in: the helper that finds names (lib/symbolize/helper.h).
 */
#ifndef LIB_TYPES_SUBJECT_H
#define LIB_TYPES_SUBJECT_H

#include "lib/symbolize/symbols.h"

/* Read a word; false if ADDRESS is not aligned or cannot be read. */
bool mu_subject_word(
    const struct mu_symbols *symbols, uintptr_t address, uintptr_t *word);

/*
 * Read the string at ADDRESS with its end. Returns its length; 0 if it is
 * empty, cannot be read, or is longer than SIZE - 1 bytes.
 */
size_t mu_subject_string(const struct mu_symbols *symbols, uintptr_t address,
    char *buffer, size_t size);

/*
 * Read at most SIZE bytes at ADDRESS, fewer if the page after is not there.
 * Returns how many.
 */
size_t mu_subject_bytes(const struct mu_symbols *symbols, uintptr_t address,
    void *buffer, size_t size);

/*
 * True for the program and its own libraries: the system's have few debug
 * files, and what our library allocates is not lost by the program.
 */
bool mu_subject_is_own(const struct mu_loaded *loaded);

#endif
